/* rules_memo.h - job documents that come again and again, read once.
 *
 * A start, and every look behind the horizon, reads the documents of very many jobs, and programs
 * that submit thousands submit the same few. Reading one takes half of what loading its job takes.
 * Only what follows from the text alone is remembered: zones have other rules some day. */
#pragma once
#include "base/map.h"
#include "job/spec.h"

struct rules_memo {
    struct strmap specs; /* text -> struct spec */
    struct arena arena;  /* owned: of both */
};

/* Reads the text as spec_read does. The spec is valid as long as the arena and until the next
 * rules_memo_tidy. */
enum rc rules_memo_read(struct rules_memo *m, struct str text, struct arena *arena,
                        struct spec *ret_spec, struct err *err);
/* Specs read so far are not used any more: when there are many of them, they are forgotten. */
void rules_memo_tidy(struct rules_memo *m);
void rules_memo_free(struct rules_memo *m);
