"""A server of a demo's lake in which one commit never happened, until SIGTERM: what `record.ts` asks for `ui/without`.

Prints its address once it answers. The demo has to run: its Prometheus answers for the job.
"""

# ruff: noqa: INP001  # a script beside record.ts, of no package
import asyncio

import click

from limnograph.api import spa
from limnograph.api.app import create_app
from limnograph.demo.check.explained import services_without
from limnograph.jobs.serve import free_port, serve
from limnograph.settings import load
from limnograph.wiring.cold import metrics_sources
from limnograph.wiring.server_runtime import ServerRuntime

HOST = "127.0.0.1"


@click.command(help="Serve the demo of the settings file CONFIG without the commit SNAPSHOT_ID.")
@click.argument("config", type=click.Path(exists=True, dir_okay=False))
@click.argument("snapshot_id", type=int)
def command(config: str, snapshot_id: int) -> None:
    """Wire, serve."""
    settings = load(config)
    services = services_without(settings, snapshot_id, metrics_sources(settings))
    app = create_app(services.backend, spa.load(), bytes, ServerRuntime(services).running)
    port = free_port(HOST, 0, given=False)
    asyncio.run(serve(app, HOST, port, click.echo, services.backend.live.close))


if __name__ == "__main__":
    command()
