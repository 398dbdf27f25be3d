/* named_list.h - pages of things that have a name and come from the turn all at once: queues,
 * teams.
 *
 * They are in the order of their names, and the cursor is the last name of the page before. */
#pragma once
#include "server/api/api.h"

struct named_list {
    const char *key; /* of the array in the answer */
    name_check *check;
    size_t (*count)(const struct request *r);
    struct str (*name)(const struct request *r, size_t i);
    void (*print)(const struct request *r, struct json_writer *w, size_t i);
};

/* The call: reads the page, asks the turn, answers. */
void named_list_answer(struct request *r, const struct named_list *list);
