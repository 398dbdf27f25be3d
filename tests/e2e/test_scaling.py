"""How many slots a queue could use, as programs that start and stop workers ask for it."""

from belfry import Server, main, tests_of, wait_for
from cluster import Cluster, Postgres
from protocol import API, Worker, call, expect, names, submit

server = Server("--no-worker")


def scaling(of, queue, **kwargs):
    return expect(200, of, "GET", "/scaling?queue=" + queue, **kwargs)


def numbers(told):
    return tuple(told[key] for key in ("ready", "running", "slots", "wanted_slots"))


def keda(document, value_location):
    """The number at a path of keys, as KEDA's metrics-api reads it: a number, or text that is one."""
    value = document
    for key in value_location.split("."):
        value = value[key]
    return float(value)


def test_what_is_ready_and_what_runs_is_wanted():
    queue = next(names)
    worker = Worker(server, slots=4, queues=[queue], handlers=["h"])
    for _ in range(3):
        submit(server, queue=queue, handler="h")
    submit(server, queue=queue, handler="h", schedule={"delay": "1h"})
    lease, = worker.take(1)
    told = scaling(server, queue)
    assert told["queue"] == queue and numbers(told) == (2, 1, 4, 3) and "note" not in told, told
    assert wait_for(lambda: scaling(server, queue)["oldest_age_ms"], "some age") > 0
    assert worker.finish(lease)
    assert numbers(scaling(server, queue)) == (2, 0, 4, 2)


def test_a_limit_is_the_most_that_is_wanted():
    queue = next(names)
    expect(200, server, "PUT", "/queues/" + queue, {"concurrency": 2})
    for _ in range(5):
        submit(server, queue=queue)
    assert numbers(scaling(server, queue)) == (5, 0, 0, 2)
    expect(200, server, "PUT", "/queues/" + queue, {"concurrency": None})
    assert numbers(scaling(server, queue)) == (5, 0, 0, 5)


def test_only_workers_that_take_work_from_the_queue_count():
    queue = next(names)
    own = Worker(server, slots=3, queues=[queue, "elsewhere"], handlers=["h"])
    Worker(server, slots=50, queues=[queue + "x"], handlers=["h"])
    wait_for(lambda: scaling(server, queue)["slots"] == 3, "the slots of one worker")
    expect(200, server, "POST", f"/workers/{own.id}/cordon")
    wait_for(lambda: scaling(server, queue)["slots"] == 0, "a cordoned worker to take nothing")


def test_a_queue_that_never_was_wants_nothing():
    told = scaling(server, "never-was")
    assert numbers(told)[0::3] == (0, 0) and "never" not in told["note"] and told["oldest_age_ms"] == 0, told
    for query, field in (("", "queue"), ("?queue=a%20b", "queue"), ("?queue=a&since=1h", "since")):
        answer = call(server, "GET", API + "/scaling" + query)
        assert answer.status == 400 and answer.json["errors"][0]["field"] == field, answer


def test_an_autoscaler_reads_it_with_a_worker_s_key():
    queue = next(names)
    for _ in range(7):
        submit(server, queue=queue)
    assert keda(scaling(server, queue, key="worker"), "wanted_slots") == 7
    assert call(server, "GET", f"{API}/scaling?queue={queue}", key=None).status == 401


def test_the_command_prints_it():
    queue = next(names)
    submit(server, queue=queue)
    shown = server.cli("scaling", queue)
    assert shown.returncode == 0 and "wanted slots  1\n" in shown.stdout, shown
    assert '"wanted_slots":1' in server.cli("scaling", queue, "-o", "json").stdout
    assert "nothing is known" in server.cli("scaling", "never-was").stdout
    assert server.cli("scaling").returncode == 2


def test_three_servers_are_added_up_and_a_part_is_an_error():
    with Postgres() as postgres, Cluster(postgres, 3, "--no-worker") as nodes:
        workers = [Worker(node, slots=4, queues=["shared"], handlers=["h"]) for node in nodes[:1]]
        for node in nodes * 4:
            submit(node, queue="shared", handler="h")
        expect(200, nodes[1], "PUT", "/queues/shared", {"concurrency": 10})
        for node in nodes:
            wait_for(lambda: numbers(scaling(node, "shared"))[0::3] == (12, 10), "all that is ready")
        assert scaling(nodes[0], "shared")["slots"] == 4 and workers
        nodes[2].kill()
        answer = call(nodes[0], "GET", API + "/scaling?queue=shared")
        assert answer.status == 503 and answer.headers["Retry-After"], answer
        def whole():
            answer = call(nodes[0], "GET", API + "/scaling?queue=shared")
            assert answer.status in (200, 503), answer
            return answer.status == 200 and answer.json
        told = wait_for(whole, "those that are left to have it all")
        assert numbers(told)[0::3] == (12, 10), told


if __name__ == "__main__":
    main(tests_of(globals()), server)
