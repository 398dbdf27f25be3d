#include "store/postgres/pg.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/postgres/call.h"
#include "store/postgres/connect.h"
#include "store/postgres/fault.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ANSWER_MS = 20000, /* more than any statement of ours is given by its own time-outs */
    SLICE_MS = 100,    /* between two words to somebody who waits with us */
    CONNECT_WAIT_MS = 500,
    CONNECT_LOOK_MS = 10,
};

void pg_init(struct pg *pg, const struct pg_place *place, bool replays)
{
    *pg = (struct pg){.place = place, .replays = replays, .wait_ms = ANSWER_MS};
}

static void disconnect(struct pg *pg)
{
    for (struct pg_call *use = pg->first; use != NULL; use = use->next)
        use->sent = false;
    PQfinish(pg->conn);
    pg->conn = NULL;
    pg->in_transaction = false;
    pg->begun = false;
    pg->pushed = false;
    memset(pg->prepared, 0, sizeof pg->prepared);
}

void pg_close(struct pg *pg)
{
    pg_clear(pg);
    pg_connector_free(pg->connector);
    disconnect(pg);
    arena_free(&pg->arena);
    arena_free(&pg->texts_arena);
    *pg = (struct pg){0};
}

/* ---- waiting */

static int64_t boot_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool has_patience(const struct pg *pg)
{
    return pg->patience != NULL && pg->patience->on_wait != NULL;
}

/* Not before a commit: what is asked then is given up soon, and the turn is in the middle of
 * something. False: it is not to be waited for any longer. */
static bool tell_waiting(struct pg *pg)
{
    int64_t now_ms = boot_ms();
    if (!has_patience(pg) || pg->hurry_until_ms != 0 || now_ms - pg->told_ms < SLICE_MS)
        return true;
    pg->told_ms = now_ms;
    return pg->patience->on_wait(pg->patience->arg);
}

static bool is_over(const struct pg *pg)
{
    int64_t end_ms = pg->end_ms == NULL ? 0 : atomic_load(pg->end_ms);
    return end_ms != 0 && boot_ms() >= end_ms;
}

bool pg_pause(struct pg *pg, int ms)
{
    (void)poll(NULL, 0, ms);
    return tell_waiting(pg);
}

void pg_hurry(struct pg *pg)
{
    bool hurries = pg->patience != NULL && pg->patience->ask_ms > 0;
    pg->hurry_until_ms = hurries ? boot_ms() + pg->patience->ask_ms : 0;
}

static int64_t deadline_ms(const struct pg *pg)
{
    int64_t until_ms = boot_ms() + pg->wait_ms;
    bool hurries = pg->hurry_until_ms != 0 && pg->hurry_until_ms < until_ms;
    return hurries ? pg->hurry_until_ms : until_ms;
}

/* Writes what is left to write and reads what is there, until something was read or time is up.
 * Both at once, since a server that cannot get rid of answers stops reading questions. */
static enum rc exchange(struct pg *pg, int64_t until_ms, struct err *err)
{
    int left = PQflush(pg->conn);
    if (left < 0)
        return pg_fault_lost(pg, "sending", err);
    int64_t wait_ms = until_ms - boot_ms();
    if (wait_ms <= 0)
        return pg_fault_silent(pg, err);
    if ((has_patience(pg) || pg->end_ms != NULL) && wait_ms > SLICE_MS)
        wait_ms = SLICE_MS;
    struct pollfd fd = {.fd = PQsocket(pg->conn), .events = (short)(POLLIN | (left ? POLLOUT : 0))};
    int ready = poll(&fd, 1, (int)wait_ms);
    if ((!tell_waiting(pg) || is_over(pg)) && ready == 0)
        return pg_fault_silent(pg, err);
    if (ready < 0 && errno != EINTR)
        return pg_fault_lost(pg, "waiting", err);
    if (ready > 0 && !PQconsumeInput(pg->conn))
        return pg_fault_lost(pg, "reading", err);
    return RC_OK;
}

/* The next result of the pipeline; NULL closes those of a statement. */
static enum rc next_result(struct pg *pg, int64_t until_ms, PGresult **ret_result, struct err *err)
{
    while (PQisBusy(pg->conn))
        TRY(exchange(pg, until_ms, err));
    *ret_result = PQgetResult(pg->conn);
    if (*ret_result == NULL && PQstatus(pg->conn) == CONNECTION_BAD)
        return pg_fault_lost(pg, "reading", err);
    return RC_OK;
}

/* ---- connecting */

/* Whether the other side has hung up since it was used. Asked before something is sent, since
 * afterwards nobody could say whether it arrived. The server speaks without being asked only to say
 * farewell (or that a setting was changed, for which a new connection is as good). */
static bool is_alive(struct pg *pg)
{
    struct pollfd fd = {.fd = PQsocket(pg->conn), .events = POLLIN};
    return PQstatus(pg->conn) == CONNECTION_OK && poll(&fd, 1, 0) == 0;
}

/* The thread of turns waits for a moment only: a call refused within it is refused with the
 * reason. */
static enum rc connect_aside(struct pg *pg, struct err *err)
{
    int64_t until_ms = boot_ms() + CONNECT_WAIT_MS;
    if (pg->connector == NULL)
        pg->connector = pg_connector_new(pg->place, pg->replays);
    for (;;) {
        bool pending;
        enum rc rc = pg_connector_take(pg->connector, pg, &pending, err);
        if (!pending || boot_ms() >= until_ms || !tell_waiting(pg))
            return rc;
        (void)poll(NULL, 0, CONNECT_LOOK_MS);
    }
}

enum rc pg_connect(struct pg *pg, struct err *err)
{
    bool in_use = pg->begun || pg->pushed; /* then answers may be waiting, and all is well */
    if (pg->conn != NULL && (in_use ? PQstatus(pg->conn) == CONNECTION_OK : is_alive(pg)))
        return RC_OK;
    disconnect(pg);
    if (is_over(pg))
        return err_set(err, RC_BUSY, "the server ends");
    return has_patience(pg) ? connect_aside(pg, err) : pg_open(pg, err);
}

/* ---- statements */

const char *pg_text_of(struct pg *pg, enum query query)
{
    if (pg->texts[query] == NULL)
        pg->texts[query] = statement_text(&postgres_statements[query], &pg->texts_arena).ptr;
    return pg->texts[query];
}

struct pg_call *pg_call(struct pg *pg, enum query query)
{
    struct pg_call *use = ARENA_NEW(&pg->arena, struct pg_call);
    use->pg = pg;
    use->query = query;
    if (pg->last == NULL)
        pg->first = use;
    else
        pg->last->next = use;
    pg->last = use;
    return use;
}

void pg_clear(struct pg *pg)
{
    for (struct pg_call *use = pg->first; use != NULL; use = use->next)
        PQclear(use->result);
    pg->first = NULL;
    pg->last = NULL;
    arena_reset(&pg->arena);
}

void pg_forget(struct pg *pg, struct pg_call *use)
{
    struct pg_call *before = NULL;
    for (struct pg_call *at = pg->first; at != use; at = at->next)
        before = at;
    if (before == NULL)
        pg->first = use->next;
    else
        before->next = use->next;
    if (pg->last == use)
        pg->last = before;
    PQclear(use->result);
}

void pg_clear_at(struct pg **pg)
{
    pg_clear(*pg);
}

/* ---- one round trip */

/* Formats: all parameters are binary. */
static const int binary[USE_PARAMS_MAX] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
};

/* A statement gets a name and is prepared when it is used for the first time on this connection. */
static bool send_use(struct pg *pg, struct pg_call *use, bool *prepares)
{
    const char *text = pg_text_of(pg, use->query);
    const char *name = postgres_statements[use->query].name;
    int count = (int)use->count;
    *prepares = false;
    if (pg->pooled)
        return PQsendQueryParams(pg->conn, text, count, NULL, use->values, use->lengths, binary, 1);
    if (!pg->prepared[use->query]) {
        if (!PQsendPrepare(pg->conn, name, text, 0, NULL))
            return false;
        *prepares = true;
        pg->prepared[use->query] = true; /* read_all takes it back where that failed */
    }
    return PQsendQueryPrepared(pg->conn, name, count, use->values, use->lengths, binary, 1);
}

static bool send_once(struct pg *pg, struct pg_call *use)
{
    if (use->sent)
        return true;
    pg_call_seal(use);
    use->sent = send_use(pg, use, &use->prepares);
    return use->sent;
}

static enum rc send_all(struct pg *pg, struct err *err)
{
    for (struct pg_call *use = pg->first; use != NULL; use = use->next) {
        if (use->result == NULL && !send_once(pg, use)) /* others are of an earlier run */
            return pg_fault_lost(pg, postgres_statements[use->query].name, err);
    }
    if (!PQpipelineSync(pg->conn))
        return pg_fault_lost(pg, "sending", err);
    return RC_OK;
}

static bool is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* Reads the one result that a queued command has. The first error of the run is the one to tell:
 * those behind it were not tried. */
static enum rc read_one(struct pg *pg, int64_t until_ms, enum query query, PGresult **ret_result,
                        bool *ret_good, struct err *err, enum rc *rc)
{
    PGresult *end;
    TRY(next_result(pg, until_ms, ret_result, err));
    *ret_good = *ret_result != NULL && is_good(*ret_result);
    if (!*ret_good && *rc == RC_OK)
        *rc = pg_fault(pg, *ret_result, postgres_statements[query].name, err);
    if (*ret_result == NULL)
        return RC_OK;
    TRY(next_result(pg, until_ms, &end, err));
    PQclear(end);
    return RC_OK;
}

static enum rc read_use(struct pg *pg, struct pg_call *use, int64_t until_ms, struct err *err,
                        enum rc *rc)
{
    bool good;
    if (use->prepares) {
        PGresult *prepared = NULL;
        enum rc lost = read_one(pg, until_ms, use->query, &prepared, &good, err, rc);
        PQclear(prepared);
        if (lost != RC_OK || !good)
            pg->prepared[use->query] = false;
        TRY(lost);
    }
    return read_one(pg, until_ms, use->query, &use->result, &good, err, rc);
}

/* To the end of the pipeline, also behind an error, so that the connection is clean again. */
static enum rc read_all(struct pg *pg, int64_t until_ms, struct pg_call *fresh,
                        struct pg_call **ret_bad, struct err *err)
{
    enum rc rc = RC_OK;
    for (struct pg_call *use = fresh; use != NULL; use = use->next) {
        bool had_failed = rc != RC_OK;
        enum rc lost = read_use(pg, use, until_ms, had_failed ? NULL : err, &rc);
        if (rc != RC_OK && !had_failed)
            *ret_bad = use;
        if (lost != RC_OK) {
            if (!had_failed)
                *ret_bad = use;
            disconnect(pg);
            return rc != RC_OK ? rc : lost;
        }
    }
    PGresult *sync = NULL;
    enum rc lost = next_result(pg, until_ms, &sync, rc == RC_OK ? err : NULL);
    PQclear(sync);
    if (lost != RC_OK)
        disconnect(pg);
    /* Everything was answered: a connection that is lost behind that is none of the caller's
     * sorrows. */
    return rc;
}

static struct pg_call *first_fresh(struct pg *pg)
{
    struct pg_call *use = pg->first;
    while (use != NULL && use->result != NULL)
        use = use->next;
    return use;
}

/* A connection that is older than the schema does not know the types in it. */
static bool knows_types(const struct pg *pg, const struct pg_call *fresh)
{
    for (const struct pg_call *use = fresh; use != NULL; use = use->next) {
        if (use->records != NULL && pg->types[use->type] == 0)
            return false;
    }
    return true;
}

/* Errors are found out by those who wait for answers. */
static void push(struct pg *pg, bool asks)
{
    if (pg->conn == NULL || PQstatus(pg->conn) != CONNECTION_OK || !knows_types(pg, pg->first))
        return;
    for (struct pg_call *use = pg->first; use != NULL; use = use->next) {
        if (use->result != NULL || use->sent)
            continue;
        if (!send_once(pg, use))
            return;
        pg->pushed = true;
        if (asks && !PQsendFlushRequest(pg->conn))
            return;
    }
    (void)PQflush(pg->conn);
}

void pg_push(struct pg *pg)
{
    push(pg, false);
}

void pg_ask(struct pg *pg)
{
    push(pg, true);
}

/* A wait for an answer is a round trip. */
static void count_trip(const struct pg *pg)
{
    if (pg->place->trips != NULL)
        atomic_fetch_add_explicit(pg->place->trips, 1, memory_order_relaxed);
}

enum rc pg_await(struct pg *pg, const struct pg_call *use, struct err *err)
{
    int64_t until_ms = deadline_ms(pg);
    if (use->result == NULL)
        count_trip(pg);
    enum rc rc = RC_OK;
    for (struct pg_call *at = first_fresh(pg); rc == RC_OK && use->result == NULL; at = at->next) {
        enum rc lost = read_use(pg, at, until_ms, err, &rc);
        rc = lost == RC_OK ? rc : lost;
    }
    if (rc != RC_OK)
        pg_rollback(pg);
    return rc;
}

/* *ret_bad: the use that failed, or under which the connection was lost; NULL: before any. */
static enum rc run(struct pg *pg, struct pg_call **ret_bad, struct err *err)
{
    struct pg_call *fresh = first_fresh(pg);
    *ret_bad = NULL;
    if (fresh == NULL)
        return RC_OK;
    if (pg->begun && PQstatus(pg->conn) != CONNECTION_OK) {
        enum rc lost = pg_fault_lost(pg, postgres_statements[fresh->query].name, err);
        disconnect(pg); /* on a new connection there would be no transaction around the rest */
        return lost;
    }
    bool in_transaction = pg->in_transaction;
    TRY(pg_connect(pg, err));
    if (!knows_types(pg, fresh) && PQtransactionStatus(pg->conn) == PQTRANS_IDLE) {
        disconnect(pg);
        TRY(pg_connect(pg, err));
    }
    pg->in_transaction = in_transaction;
    int64_t until_ms = deadline_ms(pg);
    enum rc rc = send_all(pg, err);
    if (rc != RC_OK) {
        *ret_bad = fresh;
        disconnect(pg);
        return rc;
    }
    count_trip(pg);
    rc = read_all(pg, until_ms, fresh, ret_bad, err);
    pg->pushed = false;
    if (rc == RC_OK)
        pg->begun = pg->in_transaction;
    return rc;
}

/* A connection that was lost since its last use is found out by using it. Where nothing can be done
 * twice by it, the caller need not know: that is when all of a transaction is in this run, or no
 * client has seen an answer from it. */
static enum rc run_replayed(struct pg *pg, struct pg_call **ret_bad, struct err *err)
{
    bool may_repeat = pg->conn != NULL && !pg->begun && first_fresh(pg) == pg->first;
    bool begins = pg->in_transaction;
    enum rc rc = run(pg, ret_bad, err);
    if (rc == RC_OK || pg->conn != NULL || !may_repeat)
        return rc;
    for (struct pg_call *use = pg->first; use != NULL; use = use->next) {
        PQclear(use->result);
        use->result = NULL;
    }
    pg->in_transaction = begins;
    return run(pg, ret_bad, err);
}

/* Without a COMMIT: what is here reads, or is of a transaction that is yet to be committed. */
enum rc pg_run(struct pg *pg, struct err *err)
{
    struct pg_call *bad;
    enum rc rc = run_replayed(pg, &bad, err);
    if (rc != RC_OK)
        pg_rollback(pg);
    return rc;
}

/* ---- transactions */

static void begin(struct pg *pg, enum query query)
{
    assert(!pg->in_transaction);
    (void)pg_call(pg, query);
    pg->in_transaction = true;
    if (pg->pooled)
        (void)pg_call(pg, Q_SETUP_LOCAL);
}

void pg_begin(struct pg *pg)
{
    begin(pg, Q_BEGIN_WRITE);
}

enum rc pg_begin_snapshot(struct pg *pg, struct err *err)
{
    TRY(pg_connect(pg, err));
    begin(pg, Q_BEGIN_READ);
    return RC_OK;
}

/* A COMMIT that was answered by an error, or not sent at all, did not take place. One that was not
 * answered may have; and one that met the end of its server may have been kept before that. */
static bool is_in_doubt(const struct pg *pg, const struct pg_call *commit,
                        const struct pg_call *bad)
{
    if (bad == NULL)
        return false; /* no connection, so nothing was sent */
    if (commit->result != NULL && !pg_fault_is_loss(commit->result))
        return false;
    for (const struct pg_call *use = pg->first; use != NULL; use = use->next) {
        if (use != commit && use->result != NULL && !is_good(use->result))
            return false; /* an earlier statement failed: COMMIT was passed over */
    }
    return true;
}

enum rc pg_commit(struct pg *pg, struct err *err)
{
    struct pg_call *bad;
    struct pg_call *commit = pg_call(pg, Q_COMMIT);
    pg->hurry_until_ms = 0; /* once it is sent, giving up would leave it in doubt */
    enum rc rc = pg->replays ? run_replayed(pg, &bad, err) : run(pg, &bad, err);
    if (rc == RC_OK && strcmp(PQcmdStatus(commit->result), "COMMIT") != 0)
        rc = err_set(err, RC_BUSY, "%s: the transaction was rolled back", pg->place->label);
    if (rc == RC_OK) {
        pg->in_transaction = false;
        pg->begun = false;
        return RC_OK;
    }
    if (!pg->replays &&
        is_in_doubt(pg, commit, bad)) /* a call that may be done twice is no matter */
        rc = err_set(err, RC_UNKNOWN, "%s: the connection was lost under a commit",
                     pg->place->label);
    pg_rollback(pg);
    return rc;
}

void pg_rollback(struct pg *pg)
{
    struct pg_call *bad;
    if (pg->pushed)
        disconnect(pg); /* with answers that nobody will read */
    bool open = pg->conn != NULL && PQtransactionStatus(pg->conn) != PQTRANS_IDLE;
    pg_clear(pg);
    pg->in_transaction = false;
    pg->begun = false;
    if (open) {
        (void)pg_call(pg, Q_ROLLBACK);
        if (run(pg, &bad, NULL) != RC_OK)
            disconnect(pg); /* which ends it, too */
        pg_clear(pg);
    }
    pg->hurry_until_ms = 0;
}

void pg_rollback_at(struct pg **pg)
{
    pg_rollback(*pg);
}

enum rc pg_exec(struct pg *pg, const char *sql, struct err *err)
{
    PGresult *result = PQexec(pg->conn, sql);
    enum rc rc = is_good(result) ? RC_OK : pg_fault(pg, result, "setting up", err);
    PQclear(result);
    return rc;
}
