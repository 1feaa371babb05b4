"""`limnograph serve`: the dashboard and its API in the foreground."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
from pathlib import Path

import click

from limnograph.domain.errors import SettingsError
from limnograph.settings import CONFIG_ENV, DEFAULT_PORT, Settings, load, unused

_log = logging.getLogger("limnograph.server")
_EPILOG = "Example:  limnograph serve --config limnograph.toml --port 8787"


@click.command(help="Serve the dashboard and its API until SIGTERM or Ctrl-C.", epilog=_EPILOG)
@click.option("--config", type=click.Path(dir_okay=False), help=f"Settings file; default the one {CONFIG_ENV} names.")
@click.option("--host", help="Address to listen on; default server.host of the settings (127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; 0 takes a free one. Default server.port (8787).")
@click.option("--no-watch", is_flag=True, help="Do not watch the catalogs; show only what the pipeline wrote.")
@click.option("--log-format", type=click.Choice(["plain", "json"]), default="plain", show_default=True)
def command(config: str | None, host: str | None, port: int | None, *, no_watch: bool, log_format: str) -> None:
    """Parse, wire, serve."""
    from limnograph.api import spa
    from limnograph.api.app import create_app
    from limnograph.api.exposition import Exposition
    from limnograph.jobs.logs import configure
    from limnograph.jobs.serve import free_port, serve
    from limnograph.wiring.server import build

    settings = load(config)
    configure(log_format)
    for key in unused(settings):
        _log.warning("%s is not used by this version", key)
    address = host or settings.server.host
    _check_host(address, settings)
    given = settings.server.port if port is None else port
    chosen = free_port(address, DEFAULT_PORT if given is None else given, given=given is not None)
    parts = build(settings, Path(config or os.environ[CONFIG_ENV]), watch=not no_watch)
    exposition = Exposition(parts.gauges.numbers, lambda: parts.store.watermark)
    app = create_app(parts.backend, spa.load(), exposition, parts.around)
    asyncio.run(serve(app, address, chosen, lambda url: click.echo(f"Limnograph serves {url}")))


def _check_host(host: str, settings: Settings) -> None:
    """Only loopback without authentication. Raises SettingsError."""
    if host == "localhost" or settings.server.insecure:
        return
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise SettingsError(
            "server.host",
            f"{host} is not a loopback address and nothing authenticates callers yet; "
            "use 127.0.0.1 behind a proxy, or set server.insecure = true",
        )
