/* about.c - what the database says about itself, and whether a pooler stands in between. */
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

/* The texts of read_about, in their order. */
static const char *const names[] = {
    "version",         "fsync",       "full_page_writes", "synchronous_commit",
    "max_connections", "connections", "in_recovery",      "bytes",
};

enum rc postgres_read_about(struct reader *reader, struct arena *arena,
                            struct store_about *ret_about, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, Q_READ_ABOUT);
    TRY(pg_run(pg, err));
    struct row row = pg_row(use, 0, arena);
    *ret_about = (struct store_about){.kind = "postgres", .place = str_c(pg->place->label)};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        store_about_add(ret_about, names[i], row_text(&row));
    bool direct = row_i64(&row) == PQbackendPID(pg->conn);
    store_about_add(ret_about, "pooler", direct ? STR("no") : STR("yes"));
    ret_about->now_ms = row_i64(&row);
    return row.bad ? err_set(err, RC_CORRUPT, "%s: it says nothing sensible about itself",
                             pg->place->label)
                   : RC_OK;
}
