/* operation_view.h - how many things an action on many would be about; and beginning one. */
#pragma once
#include "server/call/request.h"
#include "store/store.h"
#include "wire/message/operation_json.h"

enum { OPERATION_FIRST_MAX = 10 };

/* The findings of a dry run. */
struct operation_count {
    uint64_t count;
    bool at_least; /* there was no time to look at all */
    uint64_t first[OPERATION_FIRST_MAX];
};

/* Looks for at most two seconds; for the query threads. */
enum rc operation_count(struct reader *reader, const struct operation_rec *op,
                        struct operation_count *ret_count, struct err *err);

/* With r->cmd.operate and r->cmd.once filled in: makes it, and answers 202 with how it stands. */
void operation_begin(struct request *r);
