#include "store/postgres/migrate.h"
#include "base/embed.h"
#include "base/log.h"
#include "store/postgres/fault.h"
#include "store/sql/row.h"

#include <poll.h>
#include <stdio.h>

extern const struct embedded postgres_migrations[];

enum { PARTITIONS_DEFAULT = 16, TRIES = 5, PAUSE_MS = 500 };

int64_t pg_migrate_newest(void)
{
    int64_t newest = 0;
    while (postgres_migrations[newest].name != NULL)
        newest++;
    return newest;
}

enum rc pg_migrate_version(struct pg *pg, int64_t *ret_version, struct err *err)
{
    PG_CLEAR(pg);
    struct pg_call *use = pg_call(pg, Q_VERSION);
    struct err why;
    enum rc rc = pg_run(pg, &why);
    *ret_version = 0;
    if (rc == RC_NOT_FOUND)
        return RC_OK; /* no schema, no table */
    if (rc != RC_OK)
        return err_set(err, rc, "%s", why.text);
    if (pg_rows(use) == 1) {
        struct row row = pg_row(use, 0, NULL);
        *ret_version = row_i64(&row);
    }
    return RC_OK;
}

/* One statement with one text parameter, outside of pipelines. */
static enum rc run_with(struct pg *pg, enum query query, const char *value, PGresult **ret_result,
                        struct err *err)
{
    const char *values[] = {value};
    PGresult *result = PQexecParams(pg->conn, pg_text_of(pg, query), value == NULL ? 0 : 1, NULL,
                                    values, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);
    enum rc rc = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
                     ? RC_OK
                     : pg_fault(pg, result, postgres_statements[query].name, err);
    if (rc == RC_OK && ret_result != NULL)
        *ret_result = result;
    else
        PQclear(result);
    return rc;
}

static enum rc run_with_number(struct pg *pg, enum query query, int64_t number, struct err *err)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    return run_with(pg, query, text, NULL, err);
}

static enum rc read_version(struct pg *pg, int64_t *ret_version, struct err *err)
{
    PGresult *result = NULL;
    TRY(run_with(pg, Q_VERSION, NULL, &result, err));
    bool good = PQntuples(result) == 1 && str_to_i64(str_c(PQgetvalue(result, 0, 0)), ret_version);
    PQclear(result);
    return good ? RC_OK
                : err_set(err, RC_CORRUPT, "%s: belfry.meta tells no version", pg->place->label);
}

static enum rc run_missing(struct pg *pg, int64_t from, struct err *err)
{
    int64_t newest = pg_migrate_newest();
    if (from < 0 || from > newest)
        return err_set(err, RC_UNSUPPORTED,
                       "%s has version %lld, and this belfry knows versions up to %lld; run the "
                       "belfry that wrote it, or a newer one",
                       pg->place->label, (long long)from, (long long)newest);
    for (int64_t at = from; at < newest; at++) {
        if (pg_exec(pg, postgres_migrations[at].text, err) != RC_OK)
            return err_note(err, "migration %s", postgres_migrations[at].name);
    }
    if (from == newest)
        return RC_OK;
    TRY(run_with_number(pg, Q_MIGRATE_VERSION, newest, err));
    return run_with(pg, Q_ADMIT_ROLES, NULL, NULL, err);
}

static enum rc migrate(struct pg *pg, uint32_t partitions, const char *role, int64_t *ret_from,
                       struct err *err)
{
    TRY(pg_exec(pg, pg_text_of(pg, Q_MIGRATE_BEGIN), err));
    TRY(read_version(pg, ret_from, err));
    TRY(run_missing(pg, *ret_from, err));
    TRY(run_with_number(pg, Q_MAKE_PARTITIONS, partitions == 0 ? PARTITIONS_DEFAULT : partitions,
                        err));
    if (role != NULL)
        TRY(run_with(pg, Q_ADMIT_ROLE, role, NULL, err));
    return run_with(pg, Q_COMMIT, NULL, NULL, err);
}

static enum rc try(const struct pg_place *place, uint32_t partitions, const char *role,
                   int64_t *ret_from, bool *ret_reached, struct err *err)
{
    struct pg pg;
    pg_init(&pg, place, false);
    pg.plain = true;
    enum rc rc = pg_connect(&pg, err);
    *ret_reached = rc == RC_OK;
    if (rc == RC_OK)
        rc = migrate(&pg, partitions, role, ret_from, err);
    pg_close(&pg); /* which rolls back what was not committed */
    return rc;
}

/* Servers of the version before are at work, and lock tables in orders of their own. Where that
 * ends in a deadlock, and the database chooses us to give way, nothing has happened yet: it is done
 * again. */
enum rc pg_migrate(const struct pg_place *place, uint32_t partitions, const char *role,
                   int64_t *ret_from, struct err *err)
{
    bool reached;
    enum rc rc = try(place, partitions, role, ret_from, &reached, err);
    for (int i = 1; i < TRIES && rc == RC_BUSY && reached; i++) {
        log_warn("a migration lost a deadlock against another server and is tried again", "error",
                 err->text, NULL);
        (void)poll(NULL, 0, PAUSE_MS);
        rc = try(place, partitions, role, ret_from, &reached, err);
    }
    return rc;
}
