#include "store/postgres/fault.h"

#include <string.h>

/* The longest that fits decides; what is not here is RC_IO. */
static const struct complaint {
    const char *state;
    enum rc rc;
    const char *advice;
} complaints[] = {
    {"25006", RC_BUSY, "the server takes no writes; looking for the primary"},
    {"40", RC_BUSY, "trying again"}, /* serialization, deadlock */
    {"55P03", RC_BUSY, "another session holds the lock; trying again"},
    {"57014", RC_BUSY, "a time-out ended it; trying again"},
    {"57P", RC_BUSY, "the server is going away or starting; trying again"},
    {"08", RC_BUSY, "trying again"},
    {"25P0", RC_BUSY, "a time-out ended the session; trying again"},
    {"53100", RC_FULL, "make room on the disk of the database"},
    {"53", RC_BUSY, "the server has too few connections or too little memory for us"},
    {"28", RC_DENIED, "see to the user, the password and pg_hba.conf"},
    {"3D000", RC_NOT_FOUND, "make the database first (createdb)"},
    {"3F000", RC_NOT_FOUND, "run belfry migrate first"},
    {"42P01", RC_NOT_FOUND, "run belfry migrate first"},
    {"42883", RC_NOT_FOUND, "run belfry migrate first"},
    {"42703", RC_UNSUPPORTED, "the schema is of another version; run belfry migrate"},
    {"42501", RC_DENIED, "the user lacks a right; run belfry migrate as the owner of the schema"},
    {"54", RC_TOO_LARGE, "the change is larger than the database takes"},
    {"22", RC_CONFLICT, "the change does not fit"},
    {"23", RC_CONFLICT, "the change does not fit"},
    {"XX001", RC_CORRUPT, "the database is damaged"},
    {"XX002", RC_CORRUPT, "the database is damaged"},
    /* A check within the database has failed. It may pass, and may be for ever about one row: the
     * turn is divided, which is a second try for everybody. */
    {"XX000", RC_CONFLICT, "the database has met a fault of its own"},
};

static const struct complaint *find(const char *state)
{
    for (size_t i = 0; state != NULL && i < COUNT_OF(complaints); i++) {
        if (strncmp(state, complaints[i].state, strlen(complaints[i].state)) == 0)
            return &complaints[i];
    }
    return NULL;
}

enum rc pg_fault_code(const char *sqlstate, const char *constraint)
{
    if (constraint != NULL && strcmp(constraint, "turn_fenced") == 0)
        return RC_DEPOSED;
    const struct complaint *complaint = find(sqlstate);
    return complaint == NULL ? RC_IO : complaint->rc;
}

/* One line of a message that may have several, without what follows. */
static struct str first_line(const char *text)
{
    struct str rest = str_c(text);
    return str_trim(str_cut(&rest, '\n'));
}

enum rc pg_fault(struct pg *pg, const PGresult *result, const char *doing, struct err *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *constraint = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
    const char *why = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (state == NULL) /* libpq's own complaint, not the server's */
        return pg_fault_lost(pg, doing, err);
    const struct complaint *complaint = find(state);
    enum rc rc = pg_fault_code(state, constraint);
    if (rc == RC_DEPOSED)
        return err_set(err, rc, "another server took one of our partitions");
    return err_set(err, rc, "%s: %s: %s (%s)%s%s", pg->place->label, doing,
                   why == NULL ? "no reason given" : why, state, complaint == NULL ? "" : "; ",
                   complaint == NULL ? "" : complaint->advice);
}

enum rc pg_fault_lost(struct pg *pg, const char *doing, struct err *err)
{
    struct str why = first_line(PQerrorMessage(pg->conn));
    return err_set(err, RC_BUSY, "%s: %s: the connection was lost: %.*s", pg->place->label, doing,
                   STR_ARG(why));
}

enum rc pg_fault_silent(struct pg *pg, struct err *err)
{
    return err_set(err, RC_BUSY, "%s: no answer in time; the connection is given up",
                   pg->place->label);
}

/* libpq tells no SQLSTATE of a connection that was not made; whether waiting helps is told by
 * whether the server asked for a password that we did not have or did not take ours. */
enum rc pg_fault_refused(struct pg *pg, struct err *err)
{
    struct str why = first_line(PQerrorMessage(pg->conn));
    enum rc rc = PQconnectionNeedsPassword(pg->conn) ? RC_DENIED : RC_BUSY;
    return err_set(err, rc, "cannot connect to PostgreSQL at %s: %.*s", pg->place->label,
                   STR_ARG(why));
}

bool pg_fault_is_loss(const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state == NULL || strncmp(state, "57P", 3) == 0 || strncmp(state, "08", 2) == 0;
}
