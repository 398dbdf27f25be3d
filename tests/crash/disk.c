#include "disk.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct bytes {
    char *ptr; /* owned */
    size_t len;
    size_t cap;
};

/* A write that no sync has covered. A truncation is one without bytes. */
struct change {
    bool truncates;
    uint64_t at; /* of a truncation: the new size */
    size_t len;
    char *from; /* owned */
};

struct disk_file {
    struct disk_file *next;
    struct bytes now;       /* what a program sees */
    struct bytes kept;      /* what was synced */
    struct change *changes; /* owned; since then */
    size_t change_count;
    size_t change_cap;
    void *note; /* owned */
};

/* One name. NULL: no such file. */
struct name {
    struct name *next;
    char *text;
    struct disk_file *now;
    struct disk_file *kept;
    struct disk_file **since; /* owned: what it stood for, one after the other, since the sync */
    size_t since_count;
};

struct disk {
    struct disk_file *files; /* owned */
    struct name *names;      /* owned */
    uint64_t ops;
    uint64_t cut_at;
    bool dead;
    bool liar;
};

/* ---- bytes */

static void bytes_size(struct bytes *b, size_t len)
{
    if (len > b->cap) {
        b->cap = len * 2;
        b->ptr = mem_resize(b->ptr, b->cap);
    }
    if (len > b->len)
        memset(b->ptr + b->len, 0, len - b->len);
    b->len = len;
}

static void bytes_put(struct bytes *b, size_t at, const char *from, size_t len)
{
    if (at + len > b->len)
        bytes_size(b, at + len);
    if (len > 0)
        memcpy(b->ptr + at, from, len);
}

static void bytes_copy(struct bytes *to, const struct bytes *from)
{
    bytes_size(to, from->len);
    if (from->len > 0)
        memcpy(to->ptr, from->ptr, from->len);
}

/* ---- the disk */

struct disk *disk_new(void)
{
    return MEM_NEW(struct disk);
}

static void forget_changes(struct disk_file *f)
{
    for (size_t i = 0; i < f->change_count; i++)
        free(f->changes[i].from);
    f->change_count = 0;
}

static void forget_note(struct disk_file *f)
{
    free(f->note);
    f->note = NULL;
}

void disk_free(struct disk *d)
{
    for (struct disk_file *f = d->files, *next; f != NULL; f = next) {
        next = f->next;
        forget_changes(f);
        forget_note(f);
        free(f->changes);
        free(f->now.ptr);
        free(f->kept.ptr);
        free(f);
    }
    for (struct name *n = d->names, *next; n != NULL; n = next) {
        next = n->next;
        free(n->since);
        free(n->text);
        free(n);
    }
    free(d);
}

void disk_cut_at(struct disk *d, uint64_t op)
{
    d->cut_at = op;
}

void disk_cut(struct disk *d)
{
    d->dead = true;
}

uint64_t disk_ops(const struct disk *d)
{
    return d->ops;
}

bool disk_is_dead(const struct disk *d)
{
    return d->dead;
}

void disk_make_liar(struct disk *d)
{
    d->liar = true;
}

/* Counts an operation. RC_IO: the power failed in it, or before. A change has been noted by then
 * and may survive, whole or in part; a sync has not happened. */
static enum rc tick(struct disk *d)
{
    if (!d->dead && ++d->ops == d->cut_at)
        d->dead = true;
    return d->dead ? RC_IO : RC_OK;
}

/* ---- names */

static struct name *find_name(const struct disk *d, struct str text)
{
    struct name *n = d->names;
    while (n != NULL && !str_eq(str_c(n->text), text))
        n = n->next;
    return n;
}

static struct name *name_of(struct disk *d, struct str text)
{
    struct name *n = find_name(d, text);
    if (n != NULL)
        return n;
    n = MEM_NEW(struct name);
    n->text = mem_dup(text.ptr, text.len);
    n->next = d->names;
    d->names = n;
    return n;
}

static void rename_to(struct name *n, struct disk_file *file)
{
    n->since = mem_resize(n->since, (n->since_count + 1) * sizeof(struct disk_file *));
    n->since[n->since_count++] = file;
    n->now = file;
}

int64_t disk_size_of(const struct disk *d, struct str name)
{
    const struct name *n = find_name(d, name);
    return n == NULL || n->now == NULL ? -1 : (int64_t)n->now->now.len;
}

enum rc disk_open(struct disk *d, struct str name, struct disk_file **ret_file, bool *ret_is_new)
{
    if (d->dead)
        return RC_IO;
    struct name *n = name_of(d, name);
    *ret_is_new = n->now == NULL;
    if (n->now == NULL) {
        struct disk_file *f = MEM_NEW(struct disk_file);
        f->next = d->files;
        d->files = f;
        rename_to(n, f);
        if (tick(d) != RC_OK)
            return RC_IO;
    }
    *ret_file = n->now;
    return RC_OK;
}

enum rc disk_delete(struct disk *d, struct str name)
{
    struct name *n = find_name(d, name);
    if (d->dead)
        return RC_IO;
    if (n == NULL || n->now == NULL)
        return RC_NOT_FOUND;
    rename_to(n, NULL);
    return tick(d);
}

static void keep_name(struct name *n, struct disk_file *file)
{
    n->now = n->kept = file;
    n->since_count = 0;
}

enum rc disk_sync_names(struct disk *d)
{
    if (tick(d) != RC_OK)
        return RC_IO;
    for (struct name *n = d->names; n != NULL && !d->liar; n = n->next)
        keep_name(n, n->now);
    return RC_OK;
}

/* ---- files */

uint64_t disk_size(const struct disk_file *f)
{
    return f->now.len;
}

void **disk_note(struct disk_file *f)
{
    return &f->note;
}

enum rc disk_read(struct disk *d, const struct disk_file *f, uint64_t at, void *to, size_t bytes,
                  size_t *ret_bytes)
{
    if (d->dead)
        return RC_IO;
    size_t there = at < f->now.len ? f->now.len - at : 0;
    *ret_bytes = there < bytes ? there : bytes;
    if (*ret_bytes > 0)
        memcpy(to, f->now.ptr + at, *ret_bytes);
    return RC_OK;
}

static void apply(struct bytes *b, const struct change *c)
{
    if (c->truncates)
        bytes_size(b, c->at);
    else
        bytes_put(b, c->at, c->from, c->len);
}

static enum rc change(struct disk *d, struct disk_file *f, struct change change)
{
    if (d->dead)
        return RC_IO;
    if (f->change_count == f->change_cap) {
        f->change_cap = f->change_cap * 2 + 16;
        f->changes = mem_resize(f->changes, f->change_cap * sizeof *f->changes);
    }
    if (change.len > 0)
        change.from = mem_dup(change.from, change.len);
    f->changes[f->change_count++] = change;
    apply(&f->now, &change);
    return tick(d);
}

enum rc disk_write(struct disk *d, struct disk_file *f, uint64_t at, const void *from, size_t bytes)
{
    return change(d, f, (struct change){.at = at, .len = bytes, .from = (char *)(uintptr_t)from});
}

enum rc disk_truncate(struct disk *d, struct disk_file *f, uint64_t bytes)
{
    return change(d, f, (struct change){.truncates = true, .at = bytes});
}

enum rc disk_sync(struct disk *d, struct disk_file *f)
{
    if (tick(d) != RC_OK)
        return RC_IO;
    if (d->liar)
        return RC_OK;
    bytes_copy(&f->kept, &f->now);
    forget_changes(f);
    return RC_OK;
}

/* ---- power again */

/* How much of what was not synced is there. */
enum luck {
    LUCK_NONE,  /* nothing: the cache of the system was never written */
    LUCK_ALL,   /* everything, although nobody had asked for it yet */
    LUCK_ORDER, /* a first part of it, in order, the last write torn */
    LUCK_DICE,  /* each sector for itself */
    LUCKS
};

/* What one change does to one sector. */
static void apply_to_sector(struct bytes *b, const struct change *c, size_t start)
{
    size_t end = start + DISK_SECTOR_BYTES;
    size_t from = c->at > start ? c->at : start;
    size_t to = c->at + c->len < end ? c->at + c->len : end;
    if (c->truncates && c->at < end && from < b->len)
        memset(b->ptr + from, 0, (b->len < end ? b->len : end) - from);
    else if (!c->truncates && from < to)
        bytes_put(b, from, c->from + (from - c->at), to - from);
}

/* The sector as it was after the first `count` changes. */
static void restore_sector(struct bytes *b, const struct disk_file *f, size_t start, size_t count)
{
    for (size_t i = 0; i < count; i++)
        apply_to_sector(b, &f->changes[i], start);
}

static size_t size_after(const struct disk_file *f, size_t count)
{
    size_t size = f->kept.len;
    for (size_t i = 0; i < count; i++) {
        const struct change *c = &f->changes[i];
        if (c->truncates)
            size = c->at;
        else if (c->at + c->len > size)
            size = c->at + c->len;
    }
    return size;
}

static size_t largest_end(const struct disk_file *f)
{
    size_t end = f->kept.len;
    for (size_t i = 0; i < f->change_count; i++) {
        const struct change *c = &f->changes[i];
        if (!c->truncates && c->at + c->len > end)
            end = c->at + c->len;
    }
    return end;
}

/* How many of the changes a sector has seen. */
static size_t draw(const struct disk_file *f, enum luck luck, size_t in_order, struct rng *rng)
{
    switch (luck) {
    case LUCK_NONE: return 0;
    case LUCK_ALL: return f->change_count;
    case LUCK_ORDER:
        if (in_order == f->change_count)
            return in_order;
        return in_order + rng_below(rng, 2); /* of the last write, some sectors */
    default: return rng_below(rng, f->change_count + 1);
    }
}

static void reboot_file(struct disk_file *f, struct rng *rng)
{
    enum luck luck = (enum luck)rng_below(rng, LUCKS);
    size_t in_order = rng_below(rng, f->change_count + 1);
    size_t end = largest_end(f);
    for (size_t start = 0; f->change_count > 0 && start < end; start += DISK_SECTOR_BYTES)
        restore_sector(&f->kept, f, start, draw(f, luck, in_order, rng));
    bytes_size(&f->kept, size_after(f, draw(f, luck, in_order, rng)));
    forget_changes(f);
    forget_note(f);
    bytes_copy(&f->now, &f->kept);
}

static void reboot_name(struct name *n, struct rng *rng)
{
    size_t seen = rng_below(rng, n->since_count + 1);
    keep_name(n, seen == 0 ? n->kept : n->since[seen - 1]);
}

void disk_reboot(struct disk *d, struct rng *rng)
{
    for (struct disk_file *f = d->files; f != NULL; f = f->next)
        reboot_file(f, rng);
    for (struct name *n = d->names; n != NULL; n = n->next)
        reboot_name(n, rng);
    d->dead = false;
    d->cut_at = 0;
}
