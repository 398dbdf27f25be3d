"""A database whose standby takes over and had not heard of the newest commits: the servers notice that it knows
less than they do, load what it has, and tell somebody. Nothing is in memory alone afterwards.

The standby lags because its stream was cut: a replay that is only paused is caught up by the promotion.
"""

import contextlib
import time

from belfry import main, tests_of, wait_for
from cluster import Node
from postgres import Postgres, PgBouncer

FAR = 1 << 20  # how far numbers jump that were given in what is lost


class Pair:
    """A primary with a standby that does not follow at once, and two servers; pooled: behind a PgBouncer, where
    nobody sees that its connection leads elsewhere."""

    def __init__(self, pooled, *flags):
        self.pooled = pooled
        self.flags = ("--slots", "4", *flags)
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        with self.stack as stack:
            self.primary = stack.enter_context(Postgres())
            self.standby = stack.enter_context(self.primary.replica())
            self.bouncer = stack.enter_context(PgBouncer(self.primary, 30)) if self.pooled else None
            self.a = stack.enter_context(Node("a", self.url, *self.flags))
            b = Node("b", self.url, *self.flags)
            b.copy_key(self.a)
            self.b = stack.enter_context(b)
            self.nodes = (self.a, self.b)
            wait_for(lambda: set(self.a.shares().values()) == {8}, "equal shares")
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    @property
    def url(self):
        if self.pooled:
            return self.bouncer.url()
        return (f"postgres://postgres@127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}"
                "/postgres")

    def cut_off(self):
        """From now on the standby hears nothing."""
        newest = self.primary.sql("SELECT pg_current_wal_insert_lsn()")
        wait_for(lambda: self.standby.sql(
            f"SELECT pg_last_wal_replay_lsn() >= '{newest}'") == "t", "the standby to follow")
        self.standby.sql("ALTER SYSTEM SET primary_conninfo = ''")
        self.standby.reload()
        wait_for(lambda: self.primary.sql("SELECT count(*) FROM pg_stat_replication") == "0",
                 "the stream to end")

    def fail_over(self):
        """Behind a pooler that waits meanwhile, so that nobody loses a connection."""
        if self.pooled:
            self.bouncer.hold()
        self.primary.kill()
        self.standby.promote()
        if self.pooled:
            self.bouncer.lead_to(self.standby)

    def alerts(self):
        status, answer = self.a.api("GET", "/alerts")
        return [alert for alert in answer.get("alerts", []) if alert["kind"] == "turns_lost"
                ] if status == 200 else []

    def unfinished(self):
        """{state: how many}, by the database and by memory."""
        kept = int(self.standby.sql("SELECT count(*) FROM belfry.live WHERE queue = 'mail'"))
        queue = [q for q in self.a.api("GET", "/queues")[1]["queues"] if q["name"] == "mail"]
        return kept, sum(queue[0][key] for key in ("queued", "running")) if queue else 0


def is_paused(node):
    status, answer = node.api("GET", "/queues")
    assert status == 200, answer
    return any(queue["name"] == "mail" and queue["paused"] for queue in answer["queues"])


def states(node, jobs):
    return [node.api("GET", f"/jobs/{job}")[1].get("status") for job in jobs]


def fail_over_with_losses(pooled):
    with Pair(pooled) as pair:
        a, b = pair.nodes
        early = [node.submit("--queue", "mail", "--in", "1h", "--", "true")
                 for node in pair.nodes * 4]
        done = [a.submit("--", "true") for _ in range(8)]
        for job in done:
            a.wait_for_status(job, "completed")
        pair.cut_off()
        lost = [node.submit("--queue", "mail", "--in", "1h", "--", "true")
                for node in pair.nodes * 4]
        for job in early[:4]:
            assert a.cli("cancel", job).returncode == 0
        a.cli("queues", "pause", "mail")
        wait_for(lambda: is_paused(a) and is_paused(b), "both to know of the pause")
        before = int(pair.primary.sql("SELECT max(epoch) FROM belfry.partition"))
        pair.fail_over()
        wait_for(lambda: len(pair.alerts()) == 2, "an alert of each server", 60)
        for alert in pair.alerts():
            assert alert["level"] == "critical" and "turns" in alert["text"], alert
        # Everything that was lost is lost in memory, too.
        wait_for(lambda: not is_paused(a) and not is_paused(b), "the pause to be gone")
        wait_for(lambda: states(a, early) == ["active"] * 8, "the end of theirs to be gone")
        wait_for(lambda: states(b, done) == ["completed"] * 8, "what was known to be known")
        wait_for(lambda: [a.api("GET", f"/jobs/{job}")[0] for job in lost] == [404] * 8,
                 "what was lost to be unknown")
        assert int(pair.standby.sql("SELECT min(epoch) FROM belfry.partition")) > before + FAR // 2
        assert int(pair.standby.sql("SELECT value FROM belfry.meta "
                                    "WHERE key = 'settings_version'")) > FAR
        # And what is decided from now on is kept, and agreed upon.
        for job in early:
            assert b.cli("cancel", job).returncode == 0
        a.wait_for_status(a.submit("--queue", "mail", "--", "true"), "completed")
        wait_for(lambda: pair.unfinished() == (0, 0), "an empty queue for everybody")
        assert len(pair.alerts()) == 2


def test_a_standby_that_lags_is_noticed():
    fail_over_with_losses(pooled=False)


def test_a_standby_that_lags_is_noticed_behind_a_pooler():
    fail_over_with_losses(pooled=True)


def test_mail_is_read_behind_a_pooler_although_numbers_of_transactions_come_again():
    # A lease so long that nobody is silent in what the standby knows, and takes something.
    with Pair(True, "--set", "node_lease_ms=60s", "--set", "lease_ms=90s") as pair:
        pair.a.wait_for_status(pair.a.submit("--", "true"), "completed")
        pair.primary.sql("SELECT belfry.admit_submitter('postgres', 'team')")
        pair.cut_off()
        pair.primary.sql("SELECT pg_current_xact_id();\n" * 2000)
        passed = int(pair.primary.sql("SELECT pg_current_xact_id()"))
        time.sleep(3)  # servers read once a second; one that has not only makes this easier
        pair.fail_over()
        pair.standby.sql("""SELECT belfry.submit('{"command": "true"}')""")
        assert int(pair.standby.sql("SELECT pg_current_xact_id()")) < passed
        wait_for(lambda: pair.standby.sql("SELECT count(*) FROM belfry.inbox") == "0",
                 "the mail to be read")


def test_a_standby_that_has_everything_costs_nothing():
    with Pair(pooled=False) as pair:
        jobs = [pair.a.submit("--", "true") for _ in range(8)]
        for job in jobs:
            pair.a.wait_for_status(job, "completed")
        pair.a.cli("queues", "pause", "mail")
        pair.cut_off()
        pair.fail_over()
        pair.a.wait_for_status(pair.a.submit("--", "true"), "completed")
        wait_for(lambda: is_paused(pair.a) and is_paused(pair.b), "the pause to be known")
        assert pair.alerts() == []
        assert int(pair.standby.sql("SELECT max(epoch) FROM belfry.partition")) < FAR


if __name__ == "__main__":
    main(tests_of(globals()))
