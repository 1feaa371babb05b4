"""`limnograph serve`: serves the dashboard and its API in the foreground."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from limnograph.domain.errors import SettingsError
from limnograph.settings import CONFIG_ENV, DEFAULT_PORT, Settings, load, needs_insecure, unused

if TYPE_CHECKING:
    from limnograph.api.front.gate import Authenticator
    from limnograph.wiring.server_runtime import ServerRuntime

_WARN_S = 60.0
_log = logging.getLogger("limnograph.server")
_EPILOG = "Example:  limnograph serve --config limnograph.toml --port 8787"


@click.command(help="Serve the dashboard and its API until SIGTERM or Ctrl-C.", epilog=_EPILOG)
@click.option("--config", type=click.Path(dir_okay=False), help=f"Settings file; default ${CONFIG_ENV}.")
@click.option("--host", help="Address to listen on; default server.host of the settings (127.0.0.1).")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Port to listen on, 0 for any free port; default server.port (8787)."
)
@click.option("--no-watch", is_flag=True, help="Do not watch the catalogs; show only what the pipeline recorded.")
@click.option("--log-format", type=click.Choice(["plain", "json"]), default="plain", show_default=True)
def command(config: str | None, host: str | None, port: int | None, *, no_watch: bool, log_format: str) -> None:
    """Parse, wire, serve."""
    from limnograph.jobs.ending import leave_on_signals, run

    leave_on_signals()
    from limnograph.api import spa
    from limnograph.api.app import MB, Limits, create_app
    from limnograph.api.front.opened import gate
    from limnograph.api.front.page_counts import PageCounts
    from limnograph.api.front.traffic import Traffic
    from limnograph.api.metrics.exposition import Exposition
    from limnograph.api.metrics.maintenance_metrics import MaintenanceMetrics
    from limnograph.api.metrics.served_metrics import ServedMetrics
    from limnograph.api.metrics.source_metrics import SourceMetrics
    from limnograph.jobs.logs import configure
    from limnograph.jobs.serve import free_port, serve
    from limnograph.wiring.from_settings import build
    from limnograph.wiring.server_metrics import (
        catalog_answers,
        maintenance_numbers,
        own_metrics,
        queried_sources,
        recommended_plans,
        table_costs,
        table_reads,
    )
    from limnograph.wiring.server_runtime import ServerRuntime
    from limnograph.wiring.state import private_state

    settings = load(config)
    configure(log_format)
    private_state(settings)
    for key in unused(settings):
        _log.warning("%s is not used by this version", key)
    address = host or settings.server.host
    _check_host(address, settings)
    given = settings.server.port if port is None else port
    chosen = free_port(address, DEFAULT_PORT if given is None else given, given=given is not None)
    services = build(settings, Path(config or os.environ[CONFIG_ENV]), watch=not no_watch)
    traffic, counts, live = Traffic(), PageCounts(), services.live
    public = settings.server.public_url or _found_at(address, chosen)
    exposition = Exposition(
        services.gauges.numbers,
        lambda: services.store.watermark,
        board=lambda: services.evaluator.board,
        reads=partial(table_reads, services),
        costs=partial(table_costs, services),
        own=lambda: {**own_metrics(services), **counts.told()},
        collectors=[
            traffic,
            SourceMetrics(partial(queried_sources, services)),
            MaintenanceMetrics(partial(maintenance_numbers, services)),
            ServedMetrics(
                services.reported.told,
                public,
                partial(catalog_answers, services),
                partial(recommended_plans, services),
            ),
        ],
    )
    asked = gate(settings, address)
    limits = Limits(settings.server.page_cache_mb * MB, open_metrics=settings.auth.open_metrics)
    around = partial(_around, ServerRuntime(services), settings, asked)
    app = create_app(services.backend, spa.load(), exposition, around, gate=asked, limits=limits, counts=counts)
    run(serve(traffic.around(app), address, chosen, lambda url: click.echo(f"Limnograph serves {url}"), live.close))


def _found_at(address: str, port: int) -> str:
    """The server's address for a browser on this machine; loopback if the server listens on all addresses."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)  # noqa: S104  # a comparison, not a bind
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _check_host(host: str, settings: Settings) -> None:
    """Reject any address but loopback if authentication is off. Raises SettingsError."""
    if needs_insecure(host, settings):
        raise SettingsError(
            "server.host",
            f"{host} is not a loopback address and authentication is off; set auth.mode "
            '(e.g. "tokens", then: limnograph token create NAME --scope read), use 127.0.0.1 behind a proxy, '
            "or set server.insecure = true",
        )


async def _keep_warning() -> None:
    while True:
        _log.warning(
            "server.insecure: anyone who can reach this server can read all data and send events without authentication"
        )
        await asyncio.sleep(_WARN_S)


@asynccontextmanager
async def _around(runtime: ServerRuntime, settings: Settings, gate: Authenticator) -> AsyncGenerator[None]:
    """Run the server's background tasks; without authentication on an open address, also log a warning every minute."""
    warning = asyncio.create_task(_keep_warning()) if settings.server.insecure and gate.credentials is None else None
    try:
        async with runtime.running():
            yield
    finally:
        if warning is not None:
            warning.cancel()
        if gate.credentials is not None and gate.credentials.provider is not None:
            await gate.credentials.provider.aclose()
