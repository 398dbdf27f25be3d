/* depends_json.h - `depends_on`, from JSON and back.
 *
 * A submitted job names the jobs it waits for by id, or, within a batch, by `#2` (the third job of
 * the same batch) or `name:load` (the one of that name). Answers have ids only. */
#pragma once
#include "job/record/record.h"
#include "wire/json/fields.h"

/* Its items are struct dependency_wish. */
extern const struct field_list depends_items;

/* `"key": [{"job": …, "type": …, "state": …}, …]`: the upstreams of one job, or, when dependants is
 * true, what waits for it. */
void dependencies_put(struct json_writer *w, const char *key, bool dependants,
                      const struct dependency_rec *dependencies, size_t count);
