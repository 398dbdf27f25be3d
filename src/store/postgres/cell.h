/* cell.h - the columns of a row, one after the other. Inside of row.h. */
#pragma once
#include "store/postgres/row.h"

/* A number of any width; one outside of the range marks the row as bad, as a NULL does. */
int64_t pg_row_range(struct pg_row *row, int64_t min, int64_t max);
int32_t pg_row_i32(struct pg_row *row);
uint64_t pg_row_id(struct pg_row *row);

/* For columns that are NULL where they have what is usual. */
bool pg_row_is_null(const struct pg_row *row);
int64_t pg_row_range_or(struct pg_row *row, int64_t usual, int64_t min, int64_t max);
uint64_t pg_row_u64_or_null(struct pg_row *row); /* NULL becomes 0 */

/* What a record's reader ends with. False, and a warning in the log, when the row turned out bad. */
bool pg_row_makes_sense(const struct pg_row *row);
