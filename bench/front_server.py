"""One of the servers that `front.py` compares: `front_server.py KIND FOLDER`. Limnograph and plain ASGI run on granian
as under `limnograph serve`; FastAPI on its usual server, uvicorn with uvloop and httptools.

Prints its address. `ours` writes the page's bytes and a token to the folder, from which the peers read them.
"""

import asyncio
import random
import sys
from pathlib import Path
from typing import Any

PAGE, CODED, TOKEN = "page.json", "page.coded", "token"
TABLE = "/api/v1/tables/lake/sales/orders"
MINUTES = 360


def ours(folder: Path) -> Any:
    """The complete application: six hours of commits a minute apart, tokens required, all security headers, requests
    counted.
    """
    from access_kit import guarded
    from limnograph.api import spa
    from limnograph.api.front.traffic import Traffic
    from serving_kit import MINUTE, NOW, application, lake, moved, parts, row

    numbers = random.Random(6)  # noqa: S311
    rows, moves = [], []
    for n in range(1, MINUTES + 1):
        at = NOW - (MINUTES - n) * MINUTE
        files = 40_000 + numbers.randrange(5_000)
        sizes = {"total_bytes": files * 10**8, "total_records": files * 10**5, "total_delete_files": n}
        deltas = {"added_data_files": numbers.randrange(50), "removed_data_files": numbers.randrange(9)}
        rows.append(row(10**18 + n, at, files, parent_id=10**18 + n - 1, app_id=f"app-{n}", **sizes, **deltas))
        moves.append(moved(10**18 + n, at))
    made = guarded(folder)
    (folder / TOKEN).write_text(made.bearer("read")["authorization"])
    return Traffic().around(application(parts(lake(rows, moves)), spa.BUILD, gate=made.gate))


def plain(folder: Path) -> Any:
    """The best case of granian: the same bytes, plain and compressed, nothing else; `/hello`: a minimal response."""
    bodies = {
        "/page": (folder / PAGE).read_bytes(),
        "/coded": (folder / CODED).read_bytes(),
        "/hello": b'{"hello":"world"}',
        "/readyz": b"{}",
    }
    heads = {
        path: [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        for path, body in bodies.items()
    }

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        path = scope["path"]
        await send({"type": "http.response.start", "status": 200, "headers": heads[path]})
        await send({"type": "http.response.body", "body": bodies[path]})

    return app


def fastapi(folder: Path) -> Any:
    """The same page as a pydantic model that FastAPI validates and serialises per request; `/hello`: its minimum."""
    from fastapi import FastAPI
    from pydantic import BaseModel

    class Range(BaseModel):
        model_config = {"populate_by_name": True, "extra": "allow"}
        to: int
        step: int

    class Lane(BaseModel):
        model_config = {"extra": "allow"}
        id: str
        source: str
        unit: str
        kind: str
        status: str
        age_s: float | None = None
        v: list[float | None] | None = None

    class Timeline(BaseModel):
        model_config = {"extra": "allow"}
        range: Range
        watermark: int | None
        t: list[int]
        lanes: list[Lane]

    page = Timeline.model_validate_json((folder / PAGE).read_bytes())
    app = FastAPI()

    @app.get("/page")
    async def get_page() -> Timeline:
        return page

    @app.get("/hello")
    async def get_hello() -> dict[str, str]:
        return {"hello": "world"}

    # Pydantic's models are local to this function; FastAPI resolves their names from the signature's own objects.
    return app


def main(kind: str, folder: str) -> None:
    """Serve until a signal."""
    from limnograph.jobs.serve import free_port, serve

    app = {"ours": ours, "plain": plain, "fastapi": fastapi}[kind](Path(folder))
    if kind == "fastapi":
        _on_uvicorn(app)
        return
    port = free_port("127.0.0.1", 0, given=True)
    asyncio.run(serve(app, "127.0.0.1", port, lambda url: print(url, flush=True)))


def _on_uvicorn(app: Any) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            host, port = self.servers[0].sockets[0].getsockname()
            print(f"http://{host}:{port}", flush=True)

    settings = uvicorn.Config(app, "127.0.0.1", 0, loop="uvloop", http="httptools", log_level="error", access_log=False)
    Server(settings).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
