/* codes.h - the codes by which a browser signs in without a key.
 *
 * A code is 128 random bits. The server that made it keeps its hash, in memory alone, with the key
 * that asked for it: it is good once and for two minutes, and for nothing when the server dies.
 * Safe from any thread. */
#pragma once
#include "base/str.h"

enum {
    MAKER_TEXT = 9, /* with NUL */
    CODE_TEXT = 23, /* with NUL */
    CODE_LIVES_MS = 2 * 60 * 1000,
    CODES_MAX = 1000,   /* not used yet; another one takes the place of the oldest, … */
    CODES_OF_KEY = 100, /* … and that of its key's oldest, so that no key pushes others' out */
};

enum code_answer {
    CODE_GOOD,
    CODE_UNKNOWN, /* never made, or forgotten */
    CODE_USED,
    CODE_LATE,
};

struct codes;

/* Stands for one start of a server, so that a code can name the one that made it. */
struct str codes_maker(struct str start, char ret_text[MAKER_TEXT]);

struct codes *codes_new(void);
void codes_free(struct codes *codes); /* NULL is fine */

void codes_make(struct codes *codes, uint64_t key_id, int64_t now_ms, char ret_code[CODE_TEXT]);
/* Uses it up. A code stays known for as long again, to tell what became of it. */
enum code_answer codes_use(struct codes *codes, struct str text, int64_t now_ms,
                           uint64_t *ret_key_id);
