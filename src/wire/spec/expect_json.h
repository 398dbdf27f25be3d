/* expect_json.h - `expect` of a job document: pings in place of a command. */
#pragma once
#include "job/spec.h"
#include "wire/json/fields.h"

/* Reads {"every": DURATION, "grace": DURATION} into a struct spec, whose job is not run, then. */
void expect_read(const struct fields *f, const struct field_place *at, const struct json *value,
                 void *into);
/* Whether the document has it, by the answer of fields_read for its fields. Then it reports each
 * field that a job which is not run here has no use for. */
bool expect_check(const struct fields *f, uint64_t seen);
/* Writes nothing when pings are not expected. */
void expect_put(struct json_writer *w, const struct expectation *expect);
