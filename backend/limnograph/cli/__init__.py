"""The command line: one verb a file."""

import click


@click.group()
def main() -> None:
    """Meta-observability for data lakehouses."""
