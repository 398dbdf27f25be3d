/* retention.h - deletes rows that are too old, some of each kind a turn. */
#pragma once
#include "base/when.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct question;
struct question_list;

/* Where the pass over old rows stands. */
struct retain {
    bool held;       /* nothing is looked for */
    int64_t wake_ms; /* boot clock: of its next step */
    uint64_t after_id;
    uint64_t after_alert;
};

/* The questions of a turn about rows that may be old; NULL: not asked. */
struct retain_asked {
    struct question *letters;
    struct question *execs;
    struct question *alerts;
    struct question *tallies;
};

void retain_ask(struct engine *e, struct question_list *list);
void retain_step(struct engine *e);
int64_t retain_wait_ms(const struct engine *e, struct moment now);
