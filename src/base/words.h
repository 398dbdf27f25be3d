/* words.h - one of several words: the values of an enum as users write them.
 *
 * One table per enum. Readers, printers, messages ("must be one of skip and hold") and help pages
 * take the words from it.
 *
 *     const struct words overlap_words =
 *         WORDS([OVERLAP_SKIP] = "skip", [OVERLAP_QUEUE] = "queue");
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

struct words {
    const char *const *names; /* by value; NULL: no value that users can write */
    size_t count;             /* of the places in names */
    /* The values in the order in which messages name them, and only those. NULL: all, by value. */
    const unsigned *order;
    size_t order_count;
};

/* A whole table at file scope, from names by value. */
#define WORDS(...)                                                                                 \
    {                                                                                              \
        WORDS_NAMES(__VA_ARGS__)                                                                   \
    }
/* The same for messages that name the values in another order. */
#define WORDS_ORDERED(order_list, ...)                                                             \
    {                                                                                              \
        WORDS_NAMES(__VA_ARGS__), .order = (order_list), .order_count = COUNT_OF(order_list)       \
    }
#define WORDS_NAMES(...)                                                                           \
    .names = (const char *const[]){__VA_ARGS__},                                                   \
    .count = COUNT_OF(((const char *const[]){__VA_ARGS__}))

/* The word of a value that has one. */
struct str words_name(const struct words *words, unsigned value);
/* False when it is none of the words; *ret_value stays as it was. */
bool words_parse(const struct words *words, struct str name, unsigned *ret_value);
/* All of them, with this between them and that before the last one. */
void words_join(const struct words *words, const char *between, const char *last, struct buf *out);
/* "skip, queue and replace", as a sentence has them; "skip|queue|replace", as help has them. */
struct str words_text(const struct words *words, struct arena *arena);
struct str words_choices(const struct words *words, struct arena *arena);
