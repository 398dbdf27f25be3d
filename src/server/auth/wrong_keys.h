/* wrong_keys.h - how often an address has tried keys that are none.
 *
 * Ten wrong ones a minute are a typing mistake, more are an attempt. Only wrong ones are counted,
 * and a right one is always taken, so that nobody is locked out by a neighbour behind the same
 * address. What is remembered is bounded: when so many addresses try at once that there is no place
 * left, those share one count. Safe from any thread. */
#pragma once
#include "wire/http/http_quota.h"

#include <stdint.h>

enum {
    WRONG_KEYS_A_MINUTE = 10,
    WRONG_ADDRESSES = 1024,
};

struct wrong_keys;

struct wrong_keys *wrong_keys_new(void);
void wrong_keys_free(struct wrong_keys *wrong); /* NULL is fine */

/* Counts one. 0: its answer says that it was wrong; else for how many seconds more this address
 * is told nothing. */
int wrong_keys_count(struct wrong_keys *wrong, struct http_origin from, int64_t now_ms);
