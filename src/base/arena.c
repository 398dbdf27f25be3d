#include "base/arena.h"
#include "base/mem.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_BYTES = 4096, /* a job document as a tree (2.3 KiB), the spec made of it, its answer */
    LAST_BYTES = 1 << 20,
};

struct arena_block {
    struct arena_block *older;
    size_t bytes; /* usable, behind this header */
    alignas(max_align_t) char data[];
};

static void add_block(struct arena *a, size_t need)
{
    size_t bytes = a->head == NULL ? FIRST_BYTES : a->head->bytes * 2;
    if (bytes > LAST_BYTES)
        bytes = LAST_BYTES;
    if (bytes < need)
        bytes = need;
    struct arena_block *block = mem_resize(NULL, sizeof *block + bytes);
    block->older = a->head;
    block->bytes = bytes;
    a->head = block;
    a->next = block->data;
    a->left = bytes;
}

void arena_each(const struct arena *a, void (*tell)(void *arg, char *bytes, size_t len), void *arg)
{
    for (struct arena_block *block = a->head; block != NULL; block = block->older)
        tell(arg, block->data, block == a->head ? block->bytes - a->left : block->bytes);
}

char *arena_bytes(struct arena *a, size_t bytes)
{
    if (a->left < bytes || a->head == NULL)
        add_block(a, bytes);
    char *ptr = a->next;
    a->next += bytes;
    a->left -= bytes;
    a->used_bytes += bytes;
    return ptr;
}

void *arena_room(struct arena *a, size_t bytes)
{
    size_t skip = (size_t)(-(uintptr_t)a->next & (alignof(max_align_t) - 1));
    if (a->head != NULL && a->left >= skip) {
        a->next += skip;
        a->left -= skip;
    } else {
        a->left = 0; /* the next block starts aligned */
    }
    return arena_bytes(a, bytes);
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    return memset(arena_room(a, bytes), 0, bytes);
}

static size_t product(size_t size, size_t count)
{
    size_t bytes;
    if (__builtin_mul_overflow(size, count, &bytes))
        abort();
    return bytes;
}

void *arena_array(struct arena *a, size_t size, size_t count)
{
    return arena_alloc(a, product(size, count));
}

void *arena_array_room(struct arena *a, size_t size, size_t count)
{
    return arena_room(a, product(size, count));
}

void arena_reset(struct arena *a)
{
    struct arena_block *block = a->head;
    if (block == NULL)
        return;
    while (block->older != NULL) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
    if (block->bytes > FIRST_BYTES) { /* a first block made for one huge value is not kept */
        free(block);
        *a = (struct arena){0};
        return;
    }
    *a = (struct arena){.head = block, .next = block->data, .left = block->bytes};
}

void arena_free(struct arena *a)
{
    while (a->head != NULL) {
        struct arena_block *older = a->head->older;
        free(a->head);
        a->head = older;
    }
    *a = (struct arena){0};
}

struct str arena_str(struct arena *a, struct str s)
{
    return str_of(arena_zstr(a, s), s.len);
}

char *arena_zstr(struct arena *a, struct str s)
{
    char *copy = arena_bytes(a, s.len + 1);
    if (s.len > 0)
        memcpy(copy, s.ptr, s.len);
    copy[s.len] = '\0';
    return copy;
}

struct str arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    int need = vsnprintf(NULL, 0, format, args);
    assert(need >= 0);
    char *to = arena_bytes(a, (size_t)need + 1);
    vsnprintf(to, (size_t)need + 1, format, again);
    va_end(again);
    va_end(args);
    return str_of(to, (size_t)need);
}
