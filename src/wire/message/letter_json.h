/* letter_json.h - dead letters, as the API has them. */
#pragma once
#include "job/record/letter.h"
#include "wire/json/json.h"
#include "wire/json/problem.h"

void letter_print(struct json_writer *w, const struct letter_rec *letter);
/* The same without braces, for who has more to say. */
void letter_print_fields(struct json_writer *w, const struct letter_rec *letter);
/* The members of an object that says which are meant. */
void letter_filter_print(struct json_writer *w, const struct letter_filter *filter);

void letter_group_print(struct json_writer *w, const struct letter_group *group);

/* An action on many: {"filter": {…}, "all": true, "dry_run": true}. A filter that restricts nothing
 * is refused unless "all" says that it is meant. */
struct letter_wish {
    struct letter_filter filter;
    bool all;
    bool dry_run;
};

enum rc letter_wish_parse(const struct json *doc, struct arena *arena, struct letter_wish *ret_wish,
                          struct field_errors *errors);
