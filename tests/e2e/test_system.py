"""What servers tell about themselves: settings and where they come from, diagnostics, takeovers, outages, and who
asks. None of it ever has a secret in it.
"""

import http.client
import json
import subprocess

import postgres
from belfry import BELFRY, Server, main, tests_of, wait_for
from cluster import Cluster, Node, Postgres, Shared

SECRET = "hush-0df3a7"
WEBHOOK = f"http://127.0.0.1:1/hooks/{SECRET}"
PATHS = ("/settings", "/diagnostics", "/cluster", "/me")
COMMANDS = (("settings",), ("diagnostics",), ("nodes",), ("nodes", "--outages"), ("me", "--calls"))

POSTGRES = Postgres()
DUO = Shared(POSTGRES, lambda: Cluster(POSTGRES, 2))


def get(server, path):
    status, answer = server.api("GET", path)
    assert status == 200, answer
    return answer


def settings_of(server, query=""):
    return {s["name"]: s for s in get(server, "/settings" + query)["settings"]}


def checks_of(server, name=None):
    """{name: check} of one server, or of the one that answers."""
    answer = get(server, "/diagnostics")
    return {c["name"]: c for c in answer["checks"] if c["server"] == (name or answer["server"])}


def with_password(url):
    return url.replace("postgres@", f"postgres:{SECRET}@")


def assert_no_secret(server):
    for path in PATHS:
        assert SECRET not in json.dumps(get(server, path)), path
    for command in COMMANDS:
        for form in ("table", "json"):
            done = server.cli(*command, "-o", form)
            assert SECRET not in done.stdout + done.stderr, command
            for key in ("admin.key", "worker.key"):
                assert server.key(key) not in done.stdout, command


def test_every_setting_says_where_its_value_comes_from():
    server = Server("--slots", "3", "--set", "park_ms=2500ms", "--set", f"alert_webhooks={WEBHOOK}",
                    env={"BELFRY_LEASE_MS": "25000", "BELFRY_SLOTS": "4"})
    config = server.dir / "belfry.json"
    config.write_text(json.dumps({"lease_ms": "9s", "payload_bytes_max": "2MiB",
                                  "request_bytes_max": 536870912}))
    server.env["BELFRY_CONFIG"] = str(config)
    with server:
        told = settings_of(server)

        def source(name):
            return tuple(told[name][k] for k in ("value", "source", "from", "adjusted"))
        assert source("slots") == ("3", "flag", None, False)
        assert source("park_ms") == ("2s500ms", "flag", None, False), source("park_ms")
        assert source("lease_ms") == ("25s", "environment", "BELFRY_LEASE_MS", False)
        assert source("payload_bytes_max") == ("2MiB", "config_file", str(config), False)
        assert source("buffered_bytes_max") == ("512MiB", "default", None, True)
        assert source("idle_timeout_ms") == ("2m", "default", None, False)
        assert told["idle_timeout_ms"]["default"] == "2m" and told["lease_ms"]["default"] == "20s"
        assert told["alert_webhooks"]["value"] == "set" and told["alert_webhooks"]["secret"]
        assert all(s["words"] and not s["differs"] and not s["elsewhere"] for s in told.values())
        assert_no_secret(server)
        done = server.cli("settings", "--changed")
        assert "BELFRY_LEASE_MS" in done.stdout and "idle_timeout_ms" not in done.stdout, done
        assert server.cli("settings", "no_such").returncode == 3
        one = json.loads(server.cli("settings", "slots", "-o", "json").stdout)
        assert [s["value"] for s in one["settings"]] == ["3"]


def test_the_key_that_asks_is_told_who_it_is():
    with Server("--no-worker") as server:
        done = server.cli("me")
        assert done.returncode == 0 and "role   admin" in done.stdout, done
        done = server.cli("me", env={"BELFRY_TOKEN": server.key("worker.key")})
        assert "role   worker" in done.stdout, done
        assert "/poll" in server.cli("me", "--calls",
                                     env={"BELFRY_TOKEN": server.key("worker.key")}).stdout


def test_a_server_alone_checks_itself():
    with Server() as server:
        server.submit("--wait", "--", "true")
        checks = checks_of(server)
        assert set(checks) == {"versions", "clock", "tzdata", "open_files", "processes", "disk",
                               "file_system", "database", "store", "commits", "workers"}, checks
        assert all((c["advice"] is None) == (c["status"] == "ok") for c in checks.values()), checks
        database = checks["database"]["detail"]
        assert "journal_mode wal" in database and "durability full" in database, database
        assert checks["store"]["status"] == "ok"
        assert "version" in checks["tzdata"]["detail"], checks["tzdata"]
        version = server.cli("version").stdout.split()[-1]
        assert f"of {version}" in checks["workers"]["detail"], checks["workers"]
        assert checks["workers"]["status"] == "ok", checks["workers"]
        node, = get(server, "/cluster")["nodes"]
        assert node["commits"]["count"] > 0, node
        assert 0 < node["commits"]["p50_us"] <= node["commits"]["p99_us"], node
        done = server.cli("diagnostics")
        assert done.returncode == 0 and "journal_mode" in done.stdout, done


def test_a_worker_of_another_version_is_remarked():
    with Server("--no-worker") as server:
        assert checks_of(server)["workers"]["detail"] == "no worker is connected"
        worker = http.client.HTTPConnection("127.0.0.1", server.port)
        headers = {"Authorization": "Bearer " + server.key("worker.key"), "User-Agent": "belfry/0.0.9"}
        for _ in range(3):
            worker.request("GET", "/api/v1/me", headers=headers)
            assert worker.getresponse().read()
        check = checks_of(server)["workers"]
        assert check["detail"] == "connections of workers: 1 of 0.0.9" and check["advice"], check
        assert check["status"] == "warning", check
        worker.close()
        wait_for(lambda: checks_of(server)["workers"]["status"] == "ok", "the connection to count no more")


def test_few_open_files_are_remarked():
    server = Server("--no-worker")
    with server:
        assert checks_of(server)["open_files"]["status"] == "ok"
        server.stop()
        listen = ("--listen", f"127.0.0.1:{server.port}")
        with open(server.log_path, "ab") as log:
            server.process = subprocess.Popen(
                ["sh", "-c", 'ulimit -n 1000; exec "$@"', "sh", BELFRY, "server", *listen, "--no-worker"], cwd=server.dir, env=server.env, stdout=log, stderr=log)
        wait_for(server.is_ready, "the server to be ready")
        check = checks_of(server)["open_files"]
        assert check["status"] == "warning" and "LimitNOFILE" in check["advice"], check
        told = settings_of(server)["connections_max"]
        assert told["adjusted"] and int(told["value"]) < 1000, told


def test_an_outage_of_a_server_alone_is_told():
    """Its files are moved away, and come back."""
    with Server("--no-worker") as server:
        key = server.key()
        assert get(server, "/cluster")["outages"] == []

        def cluster():
            return server.api("GET", "/cluster", key=key)[1]
        away = server.dir / "away"
        server.data.rename(away)
        outage, = wait_for(lambda: cluster()["outages"], "the outage")
        assert outage["until"] is None and outage["code"] == "io" and outage["error"], outage
        status, told = server.api("GET", "/diagnostics", key=key)
        store = next(c for c in told["checks"] if c["name"] == "store")
        assert status == 200 and told["status"] == "failed" and store["status"] == "failed", told
        assert store["advice"] and outage["error"] in store["detail"], store
        away.rename(server.data)
        wait_for(lambda: cluster()["outages"][0]["until"], "the end of the outage")
        assert len(cluster()["outages"]) == 1
        assert checks_of(server)["store"]["status"] == "warning"
        assert "io" in server.cli("nodes", "--outages").stdout


def test_servers_that_disagree_about_settings_are_found():
    store = with_password(POSTGRES.database())
    flags = ("--set", f"alert_webhooks={WEBHOOK}")
    with Node("a", store, *flags, "--slots", "2") as a:
        b = Node("b", store, *flags, "--slots", "5", env={"BELFRY_HISTORY_KEEP_MS": "7d"})
        b.copy_key(a)
        with b:
            wait_for(lambda: len(a.shares()) == 2, "both servers")
            told = settings_of(a)
            assert told["history_keep_ms"]["differs"] and told["history_keep_ms"]["value"] == "30d"
            assert told["history_keep_ms"]["elsewhere"] == [
                {"server": "b", "value": "7d", "source": "environment",
                 "from": "BELFRY_HISTORY_KEEP_MS"}], told["history_keep_ms"]
            assert not told["slots"]["differs"] and told["slots"]["elsewhere"][0]["value"] == "5"
            assert [n for n, s in told.items() if s["differs"]] == ["history_keep_ms"], told
            assert told["store"]["value"] == "set"
            assert settings_of(a, "?server=b")["history_keep_ms"]["value"] == "7d"
            assert get(a, "/settings")["servers"] == ["a", "b"]
            status, refusal = a.api("GET", "/settings?server=c")
            assert status == 404 and "'c'" in refusal["detail"], refusal
            done = a.cli("settings", "--different")
            assert "history_keep_ms" in done.stdout and "slots" not in done.stdout, done
            assert_no_secret(a)
            assert_no_secret(b)


def test_all_servers_are_checked_and_their_database_too():
    a, b = DUO.made
    for name in ("a", "b"):
        checks = checks_of(a, name)
        # This one does not sync.
        assert checks["database"]["status"] == "failed", checks
        assert "fsync" in checks["database"]["advice"] and "pooler no" in checks["database"]["detail"]
        assert checks["database_clock"]["status"] == "ok", checks["database_clock"]
        assert checks["membership"]["status"] == "ok", checks["membership"]
    answer = get(b, "/diagnostics")
    assert answer["status"] == "failed" and answer["server"] == "b", answer
    assert sorted(s["server"] for s in answer["servers"]) == ["a", "b"], answer
    assert a.cli("diagnostics").returncode == 1


def test_a_pooler_in_between_is_seen():
    with postgres.Postgres() as database, postgres.PgBouncer(database, 30) as bouncer, \
            Node("a", bouncer.url()) as a:
        assert checks_of(a)["database"]["status"] == "ok", checks_of(a)["database"]
        assert "pooler yes" in checks_of(a)["database"]["detail"], checks_of(a)["database"]


def test_commits_of_all_servers_are_told():
    a, b = DUO.made
    for node in (a, b):
        node.submit("--wait", "--", "true")
    nodes = wait_for(lambda: {n["name"]: n["commits"] for n in get(a, "/cluster")["nodes"]
                              if n["commits"] and n["commits"]["count"]}, "commits")
    for commits in nodes.values():
        assert 0 < commits["p50_us"] <= commits["p99_us"], nodes
    assert sorted(n["name"] for n in get(a, "/cluster")["nodes"] if n["commits"]) == ["a", "b"]
    assert "COMMIT P50" in a.cli("nodes").stdout


def test_a_takeover_says_from_whom_and_why():
    with Cluster(POSTGRES, 3) as (a, b, c):
        given = [t for t in get(a, "/cluster")["takeovers"] if t["why"] == "given"]
        assert given and all(t["to"] != t["from"] for t in given), given
        before = [p["partition"] for p in get(a, "/cluster")["partitions"] if p["owner"] == "c"]
        c.kill()

        def silent():
            found = [t for t in get(a, "/cluster")["takeovers"] if t["why"] == "silent"]
            return found if sum(len(t["partitions"]) for t in found) == len(before) else None
        taken = wait_for(silent, "the takeover")
        assert {t["from"] for t in taken} == {"c"} and {t["to"] for t in taken} <= {"a", "b"}, taken
        assert sorted(p for t in taken for p in t["partitions"]) == before, (taken, before)
        answer = get(b, "/cluster")
        assert [t for t in answer["takeovers"] if t["why"] == "silent"] == taken
        assert answer["takeovers"] == sorted(answer["takeovers"], key=lambda t: t["at"], reverse=True)

        def renewed():  # what b says of partitions is as old as its last look, a second at most
            partitions = get(b, "/cluster")["partitions"]
            return all(p["former"] == "c" for p in partitions if p["partition"] in before)
        wait_for(renewed, "the former owner")
        assert "silent" in b.cli("nodes", "--takeovers").stdout
        c.start()  # it remembers nothing, but those that took from it do
        assert [t for t in get(c, "/cluster")["takeovers"] if t["why"] == "silent"] == taken


def test_a_database_that_was_away_is_an_outage_of_every_server():
    with Postgres() as database:
        store = with_password(database.database())
        with Node("a", store) as a:
            b = Node("b", store)
            b.copy_key(a)
            with b:
                wait_for(lambda: len(a.shares()) == 2, "both servers")
                database.stop("immediate")

                def away():
                    outages = get(a, "/cluster")["outages"]
                    return outages if {o["server"] for o in outages} == {"a", "b"} else None
                outages = wait_for(away, "the outages")
                assert all(o["until"] is None and o["error"] for o in outages), outages
                checks = checks_of(a)
                assert checks["database"]["status"] == "failed", checks["database"]
                assert checks["store"]["status"] == "failed", checks["store"]
                assert_no_secret(a)
                database.start()
                wait_for(lambda: all(o["until"] for o in get(b, "/cluster")["outages"]),
                         "the end of the outages")
                assert_no_secret(a)


if __name__ == "__main__":
    main(tests_of(globals()), shared=DUO)
