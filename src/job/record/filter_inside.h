/* filter_inside.h - what the files of filter.h share. */
#pragma once
#include "job/record/filter.h"

/* ---- filter.c */

/* JOB_FIELD_COUNT: lists of these cannot be restricted by such a field. */
enum job_field_id filter_field(enum filter_of of, struct str name);
/* FILTER_COLUMNS: it has none. */
size_t filter_column_of(enum job_field_id field);

/* ---- filter_fits.c */

bool filter_has_line(struct str lines, struct str wanted);

/* ---- filter_pattern.c */

/* The text in front of the first * that stands for text; *rest is what stands behind that, with
 * ptr NULL when there is none. */
struct str filter_literal_head(struct str pattern, struct arena *arena, struct str *ret_rest);
