/* spec_json.h - job documents: from JSON to `struct spec` and back.
 *
 * Reading checks everything that can be checked without a store and reports all problems at once.
 * Printing gives the canonical form: defaults filled in, durations in their shortest form, always
 * the same order, without depends_on. The printed text reads back as the same spec. */
#pragma once
#include "job/record/filter.h"
#include "job/spec.h"
#include "wire/json/json.h"
#include "wire/json/problem.h"

/* RC_INVALID when there is a problem; errors, which starts zeroed, says which. Text of the spec
 * points into the document's source or lives in arena. */
enum rc spec_parse(const struct json *doc, struct arena *arena, struct spec *ret_spec,
                   struct field_errors *errors);

/* The canonical members, without the braces and without the payload. */
void spec_print(struct json_writer *w, const struct spec *spec);
/* The canonical text with its braces: what stores keep and workers are given. */
struct str spec_text(const struct spec *spec, struct arena *arena);

/* The canonical members, but only this one: nothing when the spec does not have it. */
void spec_print_field(struct json_writer *w, const struct spec *spec, enum job_field_id id);

/* The value of a plain field that a query parameter names, as the canonical text has it:
 * "\"1m30s\"" for 90s, "null" for the value of jobs without the field. Reports to errors when the
 * text is no value of the field. */
struct str spec_filter_value(enum job_field_id id, struct str text, struct arena *arena,
                             struct field_errors *errors);
/* Adds a parameter to the filter of a list, also one of a field that only documents have.
 * RC_NOT_FOUND: there is none of that name; RC_INVALID: err continues a sentence that begins with
 * the name. */
enum rc filter_param_read(struct filter *f, enum filter_of of, struct str name, struct str value,
                          struct arena *arena, struct err *err);

/* Reads what spec_text wrote: stored text, the spec of a lease. RC_INVALID and one sentence. Names
 * that an older version took are good: a job that is left out does not run. */
enum rc spec_read(struct str text, struct arena *arena, struct spec *ret_spec, struct err *err);

/* When it runs, in words: "once, right away", "at 03:00 every day (Europe/Berlin)". */
struct str spec_schedule_text(const struct spec *spec, int64_t now_ms, struct arena *arena);
