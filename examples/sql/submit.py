"""Submits a job from a transaction of one's own, with psycopg2: the job exists if and only if the order does.

    python3 examples/sql/submit.py postgres://shop@localhost/belfry
"""

import json
import sys

import psycopg2


def place_order(connection, customer):
    """The order, and in the same transaction the job that sends its receipt."""
    with connection, connection.cursor() as cursor:  # commits, or rolls back when something is raised
        cursor.execute("INSERT INTO orders (customer) VALUES (%s) RETURNING id", (customer,))
        order, = cursor.fetchone()
        job = {
            "name": f"receipt-py-{order}",
            "command": ["echo", f"a receipt for order {order}"],
            "idempotency_key": f"receipt-py-{order}",
        }
        cursor.execute("SELECT belfry.submit(%s)", (json.dumps(job),))
        ticket, = cursor.fetchone()
        if not customer:
            raise ValueError("an order needs a customer")
        return ticket


connection = psycopg2.connect(sys.argv[1])
with connection, connection.cursor() as cursor:
    cursor.execute("CREATE TEMPORARY TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY, customer text)")
print("submission", place_order(connection, "ada"))
try:
    place_order(connection, "")
except ValueError as error:
    print("nothing was submitted:", error)
