"""Files of partners: one sends CSV, another JSON lines, each day one file, and sometimes the same file twice."""

from __future__ import annotations

import csv
import io
import json


def partner_files(day: str, rows: int) -> dict[str, bytes]:
    """Content of a day's files by name."""
    lines = [{"partner": "acme", "sku": f"SKU-{n}", "price_cents": 100 + n, "day": day} for n in range(rows)]
    table = io.StringIO()
    writer = csv.DictWriter(table, ["partner", "sku", "price_cents", "day"])
    writer.writeheader()
    writer.writerows(lines)
    others = "".join(json.dumps({**line, "partner": "globex"}) + "\n" for line in lines)
    return {f"{day}-acme.csv": table.getvalue().encode(), f"{day}-globex.json": others.encode()}
