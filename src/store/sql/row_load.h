/* row_load.h - a row of what is loaded, to the sink: what load and settings of store.h hand over.
 *
 * RC_OK also for a row that makes no sense and is left out; else what the sink says, which must
 * have asked for this record. */
#pragma once
#include "store/sql/row.h"

typedef enum rc row_load(struct row *row, const struct load_sink *sink, struct err *err);

row_load row_load_counter;
row_load row_load_worker;
row_load row_load_cordon;
row_load row_load_queue;
row_load row_load_team;
row_load row_load_rate;
row_load row_load_breaker;
row_load row_load_clock;
row_load row_load_calendar;
row_load row_load_silence;
row_load row_load_operation;
row_load row_load_dependency;
row_load row_load_permit;
row_load row_load_waiter;
