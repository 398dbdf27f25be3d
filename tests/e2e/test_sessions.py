"""Browsers sign in by a code or a key, act by their cookie, and are signed out."""

import contextlib
import gzip
import hashlib
import http.client
import json
import re
import threading

from belfry import PATIENCE_S, Server, main, tests_of, wait_for, wait_within
from cluster import Cluster, Postgres, Shared
from protocol import API, call, connect, names, raw, send

POSTGRES = Postgres()
CLUSTER = Shared(POSTGRES, lambda: Cluster(POSTGRES, 3))
server = Server("--no-worker")


def own_page(node=None, **more):
    """The headers of a call that our own page makes."""
    return {"X-Belfry": "1", "Origin": (node or server).url, **more}


def new_code(node=None):
    answer = call(node or server, "POST", API + "/sessions/codes")
    assert answer.status == 201, answer
    return answer.json["code"]


def begin(body, node=None, headers=None):
    return call(node or server, "POST", API + "/sessions", body, key=None, headers=headers or own_page(node))


def cookie_of(answer):
    assert answer.status == 201, answer
    return answer.headers["Set-Cookie"].split(";")[0]


def sign_in(node=None):
    return cookie_of(begin({"code": new_code(node)}, node))


def by_cookie(cookie, method, path, body=None, node=None, headers=None):
    fields = own_page(node) if headers is None else headers
    return call(node or server, method, API + path, body, key=None, headers={**fields, "Cookie": cookie})


def end_everywhere(node=None):
    assert call(node or server, "DELETE", API + "/sessions?everywhere=true").status == 204


class Stream:
    """The live feed of a browser; over() says whether the server has ended it."""

    def __init__(self, cookie=None, node=None, key=None):
        node = node or server
        self.connection = connect(node)
        headers = {"Cookie": cookie} if cookie else {}
        self.answer = send(self.connection, node, "GET", API + "/events?view=summary", key=key, headers=headers)
        assert self.answer.status == 200, self.answer.read()
        self.ended = threading.Event()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while self.answer.read1(65536):
                pass
        except (OSError, http.client.HTTPException):
            pass
        self.ended.set()

    def over(self):
        return self.ended.is_set()


# ---- signing in

def test_a_code_signs_in_once():
    code = new_code()
    answer = begin({"code": code})
    assert answer.json["key"] == "admin" and answer.json["actor"] == "key:admin@web", answer
    kept = answer.headers["Set-Cookie"]
    assert re.fullmatch(rf"belfry_{server.port}=[\w-]+; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict", kept), kept
    again = begin({"code": code})
    assert again.status == 401 and "used before" in again.json["detail"], again
    assert "Set-Cookie" not in again.headers


def test_a_key_signs_in_and_what_is_none_does_not():
    cookie = cookie_of(begin({"key": server.key()}))
    me = by_cookie(cookie, "GET", "/me").json
    assert (me["key"], me["actor"], me["by"]) == ("admin", "key:admin@web", "session"), me
    assert me["ends_at"] > "2026", me
    assert begin({"key": "bfk_nonsense"}).status == 401
    assert begin({"code": "nonsense"}).status == 401
    assert begin({"code": new_code()[:-1]}).status in (401, 201)  # alone it names nobody else


def test_bad_bodies_say_why():
    for body in ({}, {"key": "a", "code": "b"}, {"cod": "b"}, {"code": 7}, [], {"key": "x" * 600}):
        answer = begin(body)
        assert answer.status == 400, (body, answer)


def test_a_stranger_cannot_make_the_server_read_much():
    body = json.dumps({"key": "nonsense"}).encode()
    key = server.key()
    assert begin(b" " * 5000 + body).status == 413
    assert begin(gzip.compress(b" " * 5000 + body), headers=own_page(**{"Content-Encoding": "gzip"})).status == 415
    chunked = "".join(f"{name}: {value}\r\n" for name, value in own_page().items())
    assert raw(server, f"POST {API}/sessions HTTP/1.1\r\nHost: a\r\n{chunked}"
                       "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n".encode()).status == 411
    assert begin(b" " * 4000 + json.dumps({"key": key}).encode()).status == 201
    known = call(server, "POST", API + "/sessions", b" " * 5000 + json.dumps({"key": key}).encode(), headers=own_page())
    assert known.status == 201, known


def test_by_key_nothing_changes():
    answer = call(server, "GET", API + "/me")
    assert answer.json["by"] == "key" and answer.json["ends_at"] is None, answer
    cookie = sign_in()
    wrong = call(server, "GET", API + "/me", key="Bearer nonsense", headers={"Cookie": cookie})
    assert wrong.status == 401  # the key decides
    assert by_cookie(cookie, "POST", "/sessions/codes").status == 403


def test_what_a_browser_tells_a_proxy_in_front_is_no_key():
    cookie = sign_in()
    for scheme in ("Basic Zm9vOmJhcg==", "Digest username=x"):
        answer = call(server, "GET", API + "/me", key=scheme, headers={"Cookie": cookie})
        assert answer.status == 200 and answer.json["by"] == "session", answer
        assert call(server, "DELETE", API + "/sessions", key=scheme, headers={"Cookie": cookie}).status == 403
    with Server("--no-worker") as fresh:
        for _ in range(12):
            assert call(fresh, "GET", API + "/me", key="Basic Zm9vOmJhcg==").status == 401  # and not 429


def test_a_browser_acts_as_its_key_and_records_tell_it_apart():
    answer = by_cookie(sign_in(), "POST", "/jobs", {"handler": next(names)})
    assert answer.status == 201, answer
    job = answer.json["job_id"]
    assert server.job(job)["owner"] == "admin"
    assert by_cookie(sign_in(), "POST", f"/jobs/{job}/pause").status == 200
    trail = call(server, "GET", f"{API}/jobs/{job}/explain").body.decode()
    assert "admin@web" in trail, trail
    server.api("DELETE", f"/jobs/{job}")


# ---- cookies that are none

def test_a_forged_cookie_is_none_and_is_taken_away():
    cookie = sign_in()
    name, value = cookie.split("=")
    for forged in (value[:-1], value + "A", "A" * len(value), value[:20] + "x" + value[21:], "", "\"" + value + "\"", "%00"):
        answer = by_cookie(f"{name}={forged}", "GET", "/me")
        assert answer.status == 401, (forged, answer)
        assert "Max-Age=0" in answer.headers["Set-Cookie"], answer.headers
    assert by_cookie(f"belfry_1={value}", "GET", "/me").status == 401  # of another port
    assert by_cookie(f"a=b; {name}=rubbish; {cookie}; c", "GET", "/me").status == 200  # the good one counts
    assert by_cookie("; ".join([f"{name}=x"] * 50 + [cookie]), "GET", "/me").status == 401
    with Server("--no-worker") as other:
        answer = call(other, "GET", API + "/me", key=None, headers={"Cookie": f"belfry_{other.port}={value}"})
        assert answer.status == 401  # sealed by somebody else


# ---- other sites

def test_a_change_by_cookie_has_to_come_from_our_own_page():
    cookie = sign_in()
    document = {"handler": next(names), "schedule": {"delay": "1h"}}
    elsewhere = f"http://127.0.0.1:{server.port + 1}"
    for headers in ({}, {"X-Belfry": "1"}, {"Origin": server.url}, own_page(Origin=elsewhere),
                    own_page(Origin="null"), own_page(Origin="https" + server.url[4:]),
                    own_page(**{"X-Belfry": "0"}), own_page(**{"Sec-Fetch-Site": "cross-site"}),
                    own_page(**{"Sec-Fetch-Site": "same-site"})):
        answer = by_cookie(cookie, "POST", "/jobs", document, headers=headers)
        assert answer.status == 403, (headers, answer)
        assert begin({"code": new_code()}, headers={"Content-Type": "application/json", **headers}).status == 403
    form = call(server, "POST", API + "/jobs", b"a=b", key=None, headers={
        "Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded", "Origin": elsewhere})
    assert form.status == 403, form
    assert by_cookie(cookie, "GET", "/jobs", headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert by_cookie(cookie, "GET", "/jobs", headers={}).status == 200
    answer = by_cookie(cookie, "POST", "/jobs", document, headers=own_page(**{"Sec-Fetch-Site": "same-origin"}))
    assert answer.status == 201, answer
    server.api("DELETE", f"/jobs/{answer.json['job_id']}")


def test_a_proxy_that_speaks_tls():
    with Server("--no-worker", "--set", "public_url=https://jobs.example.com:443/") as behind:
        link = call(behind, "POST", API + "/sessions/codes").json
        assert link["url"] == f"https://jobs.example.com/#code={link['code']}", link
        headers = {"Host": "jobs.example.com", "X-Belfry": "1", "Origin": "https://jobs.example.com"}
        answer = begin({"code": link["code"]}, behind, headers)
        kept = answer.headers["Set-Cookie"]
        assert kept.startswith("__Host-belfry=") and kept.endswith("; Secure") and "Path=/;" in kept, kept
        cookie = cookie_of(answer)
        assert call(behind, "POST", API + "/queues/q/pause", key=None, headers={**headers, "Cookie": cookie}).status == 200
        headers["Origin"] = "http://evil.example.com"
        assert call(behind, "POST", API + "/queues/q/pause", key=None, headers={**headers, "Cookie": cookie}).status == 403


def test_public_url_is_an_address():
    for wrong in ("jobs.example.com", "ftp://x", "https://", "https://a b", "https://me@x", "https://x?y", "https://x/y", "https://x#y"):
        done = server.cli("server", "--data", str(server.dir / "none"), "--listen", "127.0.0.1:0", "--set", "public_url=" + wrong)
        assert done.returncode == 2 and "public_url" in done.stderr, (wrong, done)


def test_no_cache_in_between_keeps_what_a_cookie_got():
    node = CLUSTER.made[0]
    cookie = sign_in(node)
    jobs = [by_cookie(cookie, "POST", "/jobs", {"handler": next(names)}, node).json["job_id"] for _ in range(6)]
    for path in ("/me", "/jobs", "/cluster", *("/jobs/" + job for job in jobs), "/jobs/nothing"):
        answer = by_cookie(cookie, "GET", path, node=node)
        assert answer.headers.get_all("Cache-Control") == ["no-store"], (path, answer, answer.headers)
        assert "Cache-Control" not in call(node, "GET", API + path).headers, path


# ---- signing out

def test_signing_out_takes_the_cookie_away():
    cookie = sign_in()
    answer = by_cookie(cookie, "DELETE", "/sessions")
    assert answer.status == 204 and "Max-Age=0" in answer.headers["Set-Cookie"], answer
    assert by_cookie("a=b", "DELETE", "/sessions").status == 204
    assert by_cookie("a=b", "DELETE", "/sessions?everywhere=true").status == 401
    assert by_cookie(cookie, "DELETE", "/sessions?everywhere=maybe").status == 400


def test_another_site_signs_nobody_out():
    cookie = sign_in()
    for path in ("/sessions", "/sessions?everywhere=true"):
        for headers in ({}, own_page(Origin="http://evil.example.com"), own_page(**{"Sec-Fetch-Site": "same-site"}),
                        {"Origin": server.url}):
            answer = by_cookie(cookie, "DELETE", path, headers=headers)
            assert answer.status == 403 and "Set-Cookie" not in answer.headers, (path, headers, answer)
    assert by_cookie(cookie, "GET", "/me").status == 200


def test_signing_out_everywhere_ends_all_sessions_and_their_streams():
    cookies = [sign_in(), sign_in()]
    streams = [Stream(cookie) for cookie in cookies]
    by_key = Stream(key="admin")
    answer = by_cookie(cookies[0], "DELETE", "/sessions?everywhere=true")
    assert answer.status == 204, answer
    for cookie in cookies:
        over = by_cookie(cookie, "GET", "/me")
        assert over.status == 401 and "over" in over.json["detail"], over
    wait_within(2, lambda: all(s.over() for s in streams), "the streams to end")
    assert not by_key.over()
    assert by_cookie(sign_in(), "GET", "/me").status == 200


def test_sessions_outlive_the_server():
    cookie = sign_in()
    late = new_code()
    server.kill()
    server.start()
    assert by_cookie(cookie, "GET", "/me").status == 200
    assert begin({"code": late}).status == 401  # known to the process that made it


# ---- wrong keys

def test_the_eleventh_wrong_key_is_told_to_wait_and_a_right_one_is_taken():
    with Server("--no-worker") as fresh:
        for _ in range(9):
            assert call(fresh, "GET", API + "/me", key="Bearer nonsense").status == 401
        assert begin({"key": "nonsense"}, fresh).status == 401
        for answer in (begin({"key": "nonsense"}, fresh), call(fresh, "GET", API + "/me", key="Bearer x"),
                       begin({"code": "x"}, fresh)):
            assert answer.status == 429 and 1 <= int(answer.headers["Retry-After"]) <= 60, answer
        assert call(fresh, "GET", API + "/me").status == 200
        assert begin({"key": fresh.key()}, fresh).status == 201
        assert begin({"code": new_code(fresh)}, fresh).status == 201
        assert call(fresh, "GET", API + "/me", key=None).status == 401  # no key is not a wrong one


# ---- the command line

def test_belfry_dashboard_prints_a_link():
    done = server.cli("dashboard")
    assert done.returncode == 0, done.stderr
    found = re.fullmatch(rf"{server.url}/#code=([\w-]+\.[0-9a-f]+)\n", done.stdout)
    assert found, done.stdout
    assert begin({"code": found[1]}).status == 201


def test_codes_and_cookies_are_in_no_log():
    code = new_code()
    cookie = cookie_of(begin({"code": code}))
    begin({"code": code})
    by_cookie(cookie + "x", "GET", "/me")
    log = server.log_path.read_text()
    assert code.split(".")[0] not in log and cookie.split("=")[1] not in log


# ---- a cluster

def test_a_code_of_one_server_signs_in_at_another():
    a, b, c = CLUSTER.made
    for node in (a, b, c):
        code = new_code(a)
        answer = begin({"code": code}, node)
        cookie = cookie_of(answer)
        assert cookie.startswith(f"belfry_{node.port}="), cookie
        assert call(c, "GET", API + "/me", key=None,
                    headers={"Cookie": f"belfry_{c.port}=" + cookie.split("=")[1]}).status == 200
        again = begin({"code": code}, c)
        assert again.status == 401 and "used before" in again.json["detail"], again
        with_key = call(node, "POST", API + "/sessions", {"code": new_code(a)}, headers=own_page(node))
        assert cookie_of(with_key).startswith(f"belfry_{node.port}="), with_key.headers


def test_a_browser_is_told_apart_also_by_the_server_that_decides():
    nodes = CLUSTER.made
    for node in nodes:
        cookie = sign_in(node)
        jobs = [by_cookie(cookie, "POST", "/jobs", {"handler": next(names)}, node).json["job_id"] for _ in range(6)]
        for job in jobs:
            assert by_cookie(cookie, "POST", f"/jobs/{job}/pause", node=node).status == 200
            assert "admin@web" in call(node, "GET", f"{API}/jobs/{job}/explain").body.decode()


def test_signing_out_everywhere_is_known_everywhere():
    a, b, c = CLUSTER.made
    cookie = sign_in(a)
    value = cookie.split("=")[1]
    stream = Stream(f"belfry_{b.port}={value}", b)
    end_everywhere(c)
    gone = lambda: by_cookie(f"belfry_{b.port}={value}", "GET", "/me", node=b).status == 401
    wait_within(3, gone, "the session to be over")
    wait_within(2, stream.over, "the stream to end")


def test_a_key_that_is_gone_ends_its_sessions_and_streams():
    a, b, c = CLUSTER.made
    name = next(names)
    database = a.flags[1].rsplit("/", 1)[1]
    key = "bfk_" + name
    POSTGRES.sql(f"""INSERT INTO belfry.api_key (id, name, role, hash, created_ms)
                     VALUES ({77 << 30}, '{name}', 'admin', '{hash_of(key)}', 1)""", database)
    raise_settings = "UPDATE belfry.meta SET value = (value::bigint + 1)::text WHERE key = 'settings_version'"
    POSTGRES.sql(raise_settings, database)
    wait_for(lambda: call(b, "GET", API + "/me", key="Bearer " + key).status == 200, "the key to be known")
    cookie = cookie_of(begin({"key": key}, b))
    streams = [Stream(cookie, b), Stream(node=b, key="Bearer " + key)]
    POSTGRES.sql(f"DELETE FROM belfry.api_key WHERE name = '{name}'", database)
    POSTGRES.sql(raise_settings, database)
    wait_within(3, lambda: by_cookie(cookie, "GET", "/me", node=b).status == 401, "the session to be over")
    wait_within(2, lambda: all(s.over() for s in streams), "the streams to end")


def hash_of(key):
    return hashlib.blake2b(key.encode(), digest_size=32).hexdigest()


@contextlib.contextmanager
def both():
    with server, CLUSTER:
        yield


if __name__ == "__main__":
    main(tests_of(globals()), both())
