/* grouped_rows.h - rows of a turn that differ by their ids alone.
 *
 * Rows that are submitted in one turn, leased in one by one worker, or end in one, have mostly
 * everything else in common. Such rows are told once, with all their ids: PostgreSQL reads no
 * record for each. */
#pragma once
#include "store/postgres/pg.h"
#include "store/store.h"

/* Each queues statements for what is worth it, and says which changes were told so; NULL: none.
 * Borrowed until pg_clear. */
const bool *alike_keep_jobs(struct pg *pg, const struct delta *delta);
/* trails: of each change that ends an execution, what its row says so far; ptr is NULL where that
 * is not known. Executions that end become history; the caller deletes them from live. */
const bool *alike_keep_execs(struct pg *pg, const struct delta *delta, const struct str *trails);
