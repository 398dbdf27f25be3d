#include "store/postgres/connect.h"
#include "base/mem.h"
#include "store/postgres/fault.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SET_UP_MS = 5000 }; /* for an answer; as long as connecting itself may take */

/* ---- one connection */

static int64_t boot_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* As PQexec, which waits for ever. NULL: there is no answer. */
static PGresult *exec_within(struct pg *pg, const char *sql)
{
    int64_t until_ms = boot_ms() + SET_UP_MS;
    PGresult *last = NULL;
    if (!PQsendQuery(pg->conn, sql))
        return NULL;
    for (;;) {
        while (PQisBusy(pg->conn)) {
            struct pollfd fd = {.fd = PQsocket(pg->conn), .events = POLLIN};
            int64_t wait_ms = until_ms - boot_ms();
            if (wait_ms <= 0 || poll(&fd, 1, (int)wait_ms) < 0 || !PQconsumeInput(pg->conn)) {
                PQclear(last);
                return NULL;
            }
        }
        PGresult *next = PQgetResult(pg->conn);
        if (next == NULL)
            return last;
        PQclear(last);
        last = next;
    }
}

/* Through PgBouncer and its like the number of the backend that we were told at the start is not
 * that of the one that answers. Then another one may answer next time, and it knows none of our
 * statements. */
static enum rc find_pooler(struct pg *pg, struct err *err)
{
    PGresult *result = exec_within(pg, "SELECT pg_backend_pid()");
    uint64_t pid = 0;
    bool good = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1 &&
                str_to_u64(str_c(PQgetvalue(result, 0, 0)), &pid);
    enum rc rc = good ? RC_OK : pg_fault(pg, result, "connecting", err);
    PQclear(result);
    pg->pooled = pid != (uint64_t)PQbackendPID(pg->conn);
    return rc;
}

static enum rc find_types(struct pg *pg, struct err *err)
{
    PGresult *result = exec_within(pg, pg_text_of(pg, Q_TYPES));
    bool good = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == PG_TYPES;
    for (int i = 0; good && i < PG_TYPES; i++) {
        uint64_t number = 0;
        good = str_to_u64(str_c(PQgetvalue(result, i, 0)), &number);
        pg->types[i] = (uint32_t)number;
    }
    enum rc rc = good ? RC_OK : pg_fault(pg, result, postgres_statements[Q_TYPES].name, err);
    PQclear(result);
    return rc;
}

static enum rc set_session(struct pg *pg, struct err *err)
{
    PGresult *result = exec_within(pg, pg_text_of(pg, Q_SETUP));
    ExecStatusType status = PQresultStatus(result);
    bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    enum rc rc = good ? RC_OK : pg_fault(pg, result, "setting up", err);
    PQclear(result);
    return rc;
}

static enum rc set_up(struct pg *pg, struct err *err)
{
    TRY(find_pooler(pg, err));
    if (pg->plain)
        return RC_OK;
    TRY(find_types(pg, err));
    if (!pg->pooled)
        TRY(set_session(pg, err));
    if (PQsetnonblocking(pg->conn, 1) != 0 || PQenterPipelineMode(pg->conn) != 1)
        return pg_fault_lost(pg, "connecting", err);
    return RC_OK;
}

/* A notice would go to stderr, between our own lines. */
static void drop_notice(void *arg, const PGresult *result)
{
    (void)arg;
    (void)result;
}

enum rc pg_open(struct pg *pg, struct err *err)
{
    pg->conn = PQconnectdbParams((const char *const *)pg->place->names,
                                 (const char *const *)pg->place->values, 0);
    if (pg->conn == NULL)
        abort(); /* no memory, as everywhere */
    pg->connects++;
    enum rc rc = PQstatus(pg->conn) == CONNECTION_OK ? RC_OK : pg_fault_refused(pg, err);
    if (rc == RC_OK) {
        PQsetNoticeReceiver(pg->conn, drop_notice, NULL);
        rc = set_up(pg, err);
    }
    if (rc != RC_OK) {
        PQfinish(pg->conn);
        pg->conn = NULL;
    }
    if (rc != RC_CONFLICT && rc != RC_TOO_LARGE)
        return rc;
    if (err != NULL)
        err->rc = RC_IO; /* nobody's row was sent: no turn is to blame */
    return RC_IO;
}

/* ---- on a thread of its own */

struct pg_connector {
    struct pg pg; /* of the thread while it runs */
    pthread_t thread;
    bool started; /* and not joined yet; of the caller */
    pthread_mutex_t lock;
    bool done; /* the try is over */
    enum rc rc;
    struct err err;
};

struct pg_connector *pg_connector_new(const struct pg_place *place, bool replays)
{
    struct pg_connector *c = MEM_NEW(struct pg_connector);
    pg_init(&c->pg, place, replays);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static void *try(void *arg)
{
    struct pg_connector *c = arg;
    struct err err;
    pthread_setname_np(pthread_self(), "connect");
    enum rc rc = pg_open(&c->pg, &err);
    pthread_mutex_lock(&c->lock);
    c->rc = rc;
    if (rc != RC_OK)
        c->err = err;
    c->done = true;
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static enum rc begin(struct pg_connector *c, struct err *err)
{
    sigset_t all;
    sigset_t before;
    c->done = false;
    sigfillset(&all); /* signals are for the threads that expect them */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&c->thread, NULL, try, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return err_set(err, RC_BUSY, "cannot start a thread: %s", strerror(failed));
    c->started = true;
    return RC_OK;
}

static void end(struct pg_connector *c)
{
    if (c->started)
        pthread_join(c->thread, NULL);
    c->started = false;
}

static bool is_over(struct pg_connector *c)
{
    pthread_mutex_lock(&c->lock);
    bool done = c->done;
    pthread_mutex_unlock(&c->lock);
    return done;
}

enum rc pg_connector_take(struct pg_connector *c, struct pg *pg, bool *ret_pending, struct err *err)
{
    *ret_pending = false;
    if (!c->started)
        TRY(begin(c, err));
    if (!is_over(c)) {
        *ret_pending = true;
        return err_set(err, RC_BUSY, "there is no connection to PostgreSQL at %s yet",
                       pg->place->label);
    }
    end(c);
    if (c->rc != RC_OK)
        return err_set(err, c->rc, "%s", c->err.text);
    pg->conn = c->pg.conn;
    pg->pooled = c->pg.pooled;
    memcpy(pg->types, c->pg.types, sizeof pg->types);
    pg->connects++;
    c->pg.conn = NULL;
    return RC_OK;
}

void pg_connector_free(struct pg_connector *c)
{
    if (c == NULL)
        return;
    end(c);
    pg_close(&c->pg);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
