/* arena.h - memory that is given back all at once.
 *
 * A request owns an arena: what it parses, builds and answers lives there, and one `arena_reset`
 * ends it. Blocks grow from a small first one; reset keeps the first block, so a connection that
 * serves small requests allocates once. Not thread-safe; the holder of the request holds it. */
#pragma once
#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *head; /* owned: newest first */
    char *next;
    size_t left;
    size_t used_bytes; /* handed out since the last reset */
};

void arena_reset(struct arena *a); /* a zeroed struct is an empty arena */
/* Each stretch of memory in which something was handed out; some of it may be unused. */
void arena_each(const struct arena *a, void (*tell)(void *arg, char *bytes, size_t len), void *arg);
void arena_free(struct arena *a); /* also usable as CLEANUP(arena_free) */

/* Zeroed memory, aligned for any type. */
void *arena_alloc(struct arena *a, size_t bytes);
/* Uninitialised, aligned for any type: for what is written whole. */
void *arena_room(struct arena *a, size_t bytes);
/* Uninitialised, byte-aligned: for text. */
char *arena_bytes(struct arena *a, size_t bytes);
/* A copy with a NUL behind it that len does not count. */
struct str arena_str(struct arena *a, struct str s);
char *arena_zstr(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_array((arena), sizeof(type), (count)))
#define ARENA_ROOM(arena, type, count) ((type *)arena_array_room((arena), sizeof(type), (count)))

/* count * size bytes, zeroed; aborts when that overflows. */
void *arena_array(struct arena *a, size_t size, size_t count);
/* The same, uninitialised. */
void *arena_array_room(struct arena *a, size_t size, size_t count);
