"""How answers and bodies travel: tags, what a client has already, gzip in both directions, and where a new
thing is."""

import gzip
import json
import re

from belfry import Server, main, tests_of
from protocol import API, Worker, call, expect, names, submit

server = Server("--no-worker", "--set", "request_bytes_max=2MiB", "--set",
                "buffered_bytes_max=4MiB")
TAG = re.compile(r'^"\d+\.[0-9a-f]{16}"$')
PACKED = {"Accept-Encoding": "gzip"}
PACKED_BODY = {"Content-Type": "application/json", "Content-Encoding": "gzip"}


def get(path, **headers):
    return call(server, "GET", API + path, headers={k.replace("_", "-"): v for k, v in headers.items()})


# ---- tags

def test_a_job_has_a_tag_of_its_version_and_all_that_is_told_of_it():
    job, _ = submit(server, handler=next(names), schedule={"every": "1h"})
    first = get(f"/jobs/{job}").headers["ETag"]
    assert TAG.match(first) and first.startswith('"1.'), first
    assert get(f"/jobs/{job}").headers["ETag"] == first
    expect(200, server, "POST", f"/jobs/{job}/pause")
    paused = get(f"/jobs/{job}").headers["ETag"]
    assert paused != first and paused.startswith('"1.'), paused
    for match, status in ((paused, 200), ('"2"', 200), ('"2.0000000000000000"', 412), (paused, 412),
                          ("3", 400), ('"x.y"', 412)):
        answer = call(server, "PATCH", f"{API}/jobs/{job}", {"description": f"{match} {status}"},
                      headers={"If-Match": match})
        assert answer.status == status, (match, answer)


def test_what_a_client_has_is_not_sent_again():
    job, run = submit(server, handler=next(names))
    for path in (f"/jobs/{job}", f"/executions/{run}", f"/jobs/{job}/executions"):
        whole = get(path)
        tag = whole.headers["ETag"]
        for given in (tag, f'"x", W/{tag}', "*"):
            answer = get(path, If_None_Match=given)
            assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", tag), answer
        assert get(path, If_None_Match='"x"').body == whole.body
        assert get(path, If_None_Match=tag.strip('"')).status == 200
    tag = get(f"/jobs/{job}").headers["ETag"]
    expect(200, server, "DELETE", f"/jobs/{job}")
    assert get(f"/jobs/{job}", If_None_Match=tag).status == 200
    assert "ETag" not in get("/jobs").headers


# ---- packed answers

def test_long_answers_are_packed_for_who_takes_that():
    queue = next(names)
    expect(200, server, "POST", "/jobs/batch", {"jobs": [{"handler": queue, "queue": queue}] * 30})
    path = f"/jobs?queue={queue}"
    plain = get(path)
    assert "Content-Encoding" not in plain.headers and plain.headers["Vary"] == "Accept-Encoding"
    for takes in ("gzip", "deflate, gzip;q=0.5", "*", "GZIP"):
        answer = get(path, Accept_Encoding=takes)
        assert answer.headers["Content-Encoding"] == "gzip", takes
        assert gzip.decompress(answer.body) == plain.body
        assert len(answer.body) < len(plain.body) / 5
        assert answer.headers["Vary"] == "Accept-Encoding"
    for takes in ("identity", "gzip;q=0", "br", "*;q=0", "gzip;q=0, *"):
        answer = get(path, Accept_Encoding=takes)
        assert "Content-Encoding" not in answer.headers and answer.body == plain.body, takes
    head = call(server, "HEAD", API + path, headers=PACKED)
    assert head.body == b"" and head.headers["Content-Encoding"] == "gzip"


def test_a_packed_job_has_a_tag_of_its_own_and_both_are_known():
    job, _ = submit(server, handler=next(names), payload="x" * 2000)
    plain, packed = get(f"/jobs/{job}"), get(f"/jobs/{job}", **{"Accept_Encoding": "gzip"})
    assert json.loads(gzip.decompress(packed.body)) == plain.json
    assert plain.headers["ETag"] != packed.headers["ETag"]
    for answer in (plain, packed):
        tag = answer.headers["ETag"]
        for takes in ("gzip", "identity"):  # a cache finds what is still good by its tag
            known = get(f"/jobs/{job}", If_None_Match=tag, Accept_Encoding=takes)
            assert (known.status, known.headers["ETag"]) == (304, tag), known.headers
    answer = call(server, "PATCH", f"{API}/jobs/{job}", {"priority": 3},
                  headers={"If-Match": packed.headers["ETag"]})
    assert answer.status == 200, answer


def test_short_answers_problems_and_what_workers_ask_for_are_sent_as_they_are():
    assert "Content-Encoding" not in call(server, "GET", API + "/jobs/x", headers=PACKED).headers
    queue = next(names)
    worker = Worker(server, handlers=[queue], queues=[queue])
    submit(server, handler=queue, queue=queue, payload="x" * 5000)
    answer = call(server, "POST", f"{API}/workers/{worker.id}/poll",
                  {"seq": 1, "free": 1, "wait_ms": 0, "running": [], "results": []}, key="worker",
                  headers=PACKED)
    assert len(answer.body) > 5000 and "Content-Encoding" not in answer.headers
    assert len(answer.json["leases"]) == 1


# ---- packed requests

def post(body, coding="gzip", path="/jobs"):
    return call(server, "POST", API + path, body,
                headers={"Content-Encoding": coding, "Content-Type": "application/json"})


def test_a_packed_request_is_taken_within_the_limits_of_what_is_in_it():
    job = json.dumps({"handler": next(names), "payload": "x" * 5000}).encode()
    answer = post(gzip.compress(job))
    assert answer.status == 201, answer
    assert expect(200, server, "GET", "/jobs/" + answer.json["job_id"])["payload"] == "x" * 5000
    assert post(job, "identity").status == 201
    for body, coding, status in ((gzip.compress(job), "br", 415), (job, "gzip", 400),
                                 (gzip.compress(job)[:-5], "gzip", 400),
                                 (gzip.compress(job) + b"x", "gzip", 400), (b"", "gzip", 400),
                                 (gzip.compress(b"{"), "gzip", 400),
                                 (gzip.compress(b" " * (2 << 20) + job), "gzip", 413),
                                 (gzip.compress(b" " * (200 << 20)), "gzip", 413)):
        answer = post(body, coding)
        assert answer.status == status and answer.json["code"], (coding, status, answer)


def test_a_key_means_the_same_request_packed_or_not():
    job, key = json.dumps({"handler": next(names)}).encode(), next(names)
    made = [call(server, "POST", API + "/jobs", body, headers={"Idempotency-Key": key, **more}).json["job_id"]
            for body, more in ((job, {"Content-Type": "application/json"}),
                               (gzip.compress(job), {"Content-Encoding": "gzip"}))]
    assert made[0] == made[1]
    job, _ = submit(server, handler=next(names), schedule={"every": "1h"})
    for path, body, made in (("/jobs/actions", {"action": "pause", "ids": [job]}, "operation_id"),
                             ("/dead-letters/retry", {"all": True}, "operation_id"),
                             (f"/jobs/{job}/trigger", {"payload": [1]}, "execution_id")):
        body, key = json.dumps(body).encode(), {"Idempotency-Key": next(names)}
        answers = [call(server, "POST", API + path, body, headers={**key, "Content-Type": "application/json"}),
                   call(server, "POST", API + path, gzip.compress(body), headers={**key, **PACKED_BODY}),
                   call(server, "POST", API + path, gzip.compress(body, 1), headers={**key, **PACKED_BODY})]
        assert len({answer.json.get(made) for answer in answers}) == 1, (path, answers)


def test_a_body_of_any_type_may_be_packed():
    ical = (b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART;VALUE=DATE:20271225\r\n"
            b"END:VEVENT\r\nEND:VCALENDAR\r\n")
    as_ical = {"Content-Type": "text/calendar", "Content-Encoding": "gzip"}
    answer = call(server, "PUT", f"{API}/calendars/{next(names)}", gzip.compress(ical), headers=as_ical)
    assert (answer.status, answer.json["entry_count"]) == (201, 1), answer
    queue = next(names)
    worker = Worker(server, handlers=[queue], queues=[queue])
    submit(server, handler=queue, queue=queue)
    lease, = worker.take()
    place = f"{API}/workers/{worker.id}/checkpoints/{lease['execution_id']}?token={lease['token']}"
    as_bytes = {"Content-Type": "application/octet-stream", "Content-Encoding": "gzip"}
    assert call(server, "PUT", place, gzip.compress(b"half"), "worker", as_bytes).status == 204
    assert call(server, "GET", place, key="worker").body == b"half"
    for body, coding, status in ((b"half", "gzip", 400), (b"half", "br", 415),
                                 (gzip.compress(b" " * (3 << 20)), "gzip", 413)):
        answer = call(server, "PUT", place, body, "worker", {**as_bytes, "Content-Encoding": coding})
        assert answer.status == status, answer
    assert call(server, "GET", place, key="worker").body == b"half"
    answer = call(server, "POST", f"{API}/workers/{worker.id}/logs", gzip.compress(b""), "worker",
                  {"Content-Type": "application/x-belfry-log", "Content-Encoding": "gzip"})
    assert answer.status == 204, answer


# ---- where it is

def test_what_was_made_is_told_with_its_place():
    queue = next(names)
    answer = call(server, "POST", API + "/jobs", {"handler": queue, "schedule": {"every": "1h"}})
    place = answer.headers["Location"]
    assert place == f"{API}/jobs/{answer.json['job_id']}"
    assert call(server, "GET", place).json["job_id"] == answer.json["job_id"]
    run = call(server, "POST", place + "/trigger")
    assert call(server, "GET", run.headers["Location"]).json["execution_id"] == run.json["execution_id"]
    name = next(names)
    put = call(server, "PUT", f"{API}/jobs/by-name/{name}", {"handler": queue})
    assert (put.status, put.headers["Location"]) == (201, f"{API}/jobs/{put.json['job_id']}")
    put = call(server, "PUT", f"{API}/jobs/by-name/{name}", {"handler": queue, "priority": 4})
    assert put.status == 200 and "Location" not in put.headers
    only = {"handler": queue, "unique": {"key": queue}}
    assert "Location" in call(server, "POST", API + "/jobs", only).headers
    again = call(server, "POST", API + "/jobs", only)
    assert again.status == 200 and "Location" not in again.headers


if __name__ == "__main__":
    main(tests_of(globals()), server)
