/* operation_json.h - actions on many jobs, executions or dead letters, as the API has them. */
#pragma once
#include "job/record/operation.h"
#include "wire/json/json.h"
#include "wire/json/problem.h"

/* One operation, of all its parts that there are; in lists without what was refused one by one. */
void operation_print(struct json_writer *w, const struct operation_rec *parts, size_t count,
                     bool refusals);
/* Running while a part does, or is yet to come. */
enum operation_state operation_state_of(const struct operation_rec *parts, size_t count);

/* {"action": "cancel", "filter": {…} | "ids": […], "all": true, "dry_run": true}. A filter that
 * restricts nothing is refused unless "all" says that it is meant. */
struct action_wish {
    enum operation_kind kind;
    struct filter filter;
    bool has_filter;
    bool by_ids;
    struct str ids; /* growing, none twice: as struct operation_rec has them */
    bool all;
    bool dry_run;
};

/* of_jobs: POST /jobs/actions, else POST /executions/actions. */
enum rc action_wish_parse(const struct json *doc, bool of_jobs, struct arena *arena,
                          struct action_wish *ret_wish, struct field_errors *errors);
