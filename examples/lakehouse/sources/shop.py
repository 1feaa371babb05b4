"""The shop: customers, and orders that are placed, paid, sent and sometimes deleted. A seed always makes the same."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).with_name("shop.sql")
SLOT = PUBLICATION = "lake"
COUNTRIES = ("AT", "BR", "DE", "FR", "VN")
STATES = ("paid", "sent", "done")


class Shop:
    """Writes to the shop's database through one connection that commits each statement."""

    def __init__(self, connection: Any, seed: int = 27) -> None:
        self._connection = connection
        self._random = random.Random(seed)  # noqa: S311 - data of an example
        self._next_order = 1

    def open(self, customers: int) -> None:
        """Create the tables, the slot that keeps their changes, and the customers."""
        self._run(SCHEMA.read_text())
        self._run("select pg_create_logical_replication_slot(%s, 'pgoutput')", (SLOT,))
        rows = [
            (n, f"customer{n}@example.org", f"Customer {n}", COUNTRIES[n % len(COUNTRIES)]) for n in range(customers)
        ]
        for row in rows:
            self._run("insert into customers (id, email, name, country) values (%s, %s, %s, %s)", row)

    def trade(self, operations: int, customers: int) -> None:
        """Orders: more than half are new, others change, and a few are deleted."""
        for _ in range(operations):
            chance = self._random.random()
            if chance < 0.55 or self._next_order == 1:
                self._place(self._random.randrange(customers))
            elif chance < 0.95:
                self._run(
                    "update orders set status = %s, updated_at = clock_timestamp() where id = %s",
                    (self._random.choice(STATES), self._random.randrange(1, self._next_order)),
                )
            else:
                self._run("delete from orders where id = %s", (self._random.randrange(1, self._next_order),))

    def erase(self, customer: int) -> None:
        """Delete a customer and the orders, as a request for erasure demands."""
        self._run(
            "delete from orders where customer_id = %s; delete from customers where id = %s", (customer, customer)
        )

    def _place(self, customer: int) -> None:
        """An order and its event, in one transaction: the outbox."""
        order, self._next_order = self._next_order, self._next_order + 1
        payload = json.dumps({"id": order, "customer_id": customer})
        self._run(
            "insert into orders (id, customer_id, total_cents, status) values (%s, %s, %s, 'pending');"
            " insert into outbox (aggregatetype, aggregateid, type, payload) values ('Order', %s, 'OrderCreated', %s)",
            (order, customer, self._random.randrange(100, 20_000), str(order), payload),
        )

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, values or None)
