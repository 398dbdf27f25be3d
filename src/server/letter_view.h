/* letter_view.h - dead letters as people look at them: a page, a number, groups of one kind. */
#pragma once
#include "server/membership.h"
#include "store/store.h"
#include "wire/letter_json.h"

struct letter_page {
    struct letter_rec *letters; /* newest first, in the arena */
    size_t count;
    struct letter_place next; /* all zero: this was the end */
};

/* As lists of the store: it may be short, or empty, and have a next one. */
enum rc letter_page_read(struct reader *reader, const struct letter_filter *filter,
                         struct letter_place before, size_t limit, struct arena *arena,
                         struct letter_page *ret_page, struct err *err);

/* How many fit, of those that this member owns (NULL: of all): all are looked at, in short reads. */
enum rc letter_count(struct reader *reader, const struct letter_filter *filter,
                     const struct membership *of, uint64_t *ret_count, struct err *err);

enum { LETTER_GROUP_SCAN_MAX = 100000 }; /* letters that are looked at for groups: some 100 ms */

struct letter_groups {
    struct letter_group *groups; /* the largest first, in the arena */
    size_t count;
    bool complete; /* all letters were looked at; else the newest LETTER_GROUP_SCAN_MAX */
};

enum rc letter_groups_read(struct reader *reader, const struct letter_filter *filter,
                           struct arena *arena, struct letter_groups *ret_groups, struct err *err);
