/* unique_json.h - `unique` of a job document: work that is there once. */
#pragma once
#include "job/spec.h"
#include "wire/json/fields.h"

/* Reads it into a struct unique_rule. */
void unique_read(const struct fields *f, const struct field_place *at, const struct json *value,
                 void *into);
/* Writes nothing when there is no key. */
void unique_put(struct json_writer *w, const struct unique_rule *rule);
