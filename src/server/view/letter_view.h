/* letter_view.h - dead letters as people look at them: a page, a number. */
#pragma once
#include "store/store.h"
#include "wire/message/letter_json.h"

struct letter_page {
    struct letter_rec *letters; /* newest first, in the arena */
    size_t count;
    struct letter_place next; /* all zero: this was the end */
};

/* As lists of the store: it may be short, or empty, and have a next one. */
enum rc letter_page_read(struct reader *reader, const struct letter_filter *filter,
                         struct letter_place before, size_t limit, struct arena *arena,
                         struct letter_page *ret_page, struct err *err);

/* How many fit: all are looked at, in short reads. */
enum rc letter_count(struct reader *reader, const struct letter_filter *filter, uint64_t *ret_count,
                     struct err *err);
