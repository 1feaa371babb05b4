"""The click stream: an append-only log with an offset per line. With the stream, Kafka has this place."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from pathlib import Path

PAGES = ("/", "/product", "/cart", "/pay")


def append_clicks(log: Path, count: int, users: int, start: datetime, *, seed: int, step_s: int = 1) -> int:
    """Append clicks from `start` on, `step_s` after each other. Returns the number of lines in the log."""
    chosen = random.Random(seed)  # noqa: S311 - data of an example
    with log.open("a") as file:
        for n in range(count):
            click = {
                "event_id": f"{seed}-{n}",
                "user_id": chosen.randrange(users),
                "page": chosen.choice(PAGES),
                "event_at": (start + timedelta(seconds=n * step_s)).isoformat(),
            }
            file.write(json.dumps(click) + "\n")
    return sum(1 for _ in log.open())
