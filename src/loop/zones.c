#include "loop/zones.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/clock.h"
#include "loop/file.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DIR_DEFAULT "/usr/share/zoneinfo"

/* A thread may have been handed the old zone right before the first time, and begun something with
 * it right after. */
enum { TELL_TIMES = 2 };

/* Tells one version of a file from the next: packages replace files, they do not edit them. */
struct version {
    dev_t device;
    ino_t inode;
    off_t bytes;
    struct timespec changed;
};

struct entry {
    struct entry *older; /* owned: versions that were handed out before */
    struct zone *zone;   /* owned */
    struct version version;
    int64_t looked_us;
    unsigned told; /* how often, that there is a newer one */
    char *name;    /* owned */
};

struct zones {
    pthread_mutex_t lock;
    char *dir; /* owned */
    int64_t trust_us;
    struct strmap by_name; /* -> struct entry, owned */
};

struct zones *zones_new(const char *dir)
{
    struct zones *zones = MEM_NEW(struct zones);
    const char *wanted = dir != NULL ? dir : getenv("TZDIR");
    if (wanted == NULL || wanted[0] == '\0')
        wanted = DIR_DEFAULT;
    zones->dir = mem_dup(wanted, strlen(wanted));
    pthread_mutex_init(&zones->lock, NULL);
    return zones;
}

static void entry_free(struct entry *entry)
{
    while (entry != NULL) {
        struct entry *older = entry->older;
        zone_free(entry->zone);
        free(entry->name);
        free(entry);
        entry = older;
    }
}

void zones_free(struct zones *zones)
{
    if (zones == NULL)
        return;
    for (size_t i = 0; i < zones->by_name.cap; i++)
        entry_free(zones->by_name.slots[i].value);
    strmap_free(&zones->by_name);
    pthread_mutex_destroy(&zones->lock);
    free(zones->dir);
    free(zones);
}

/* ---- names */

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '+' || c == '-';
}

/* "America/Port-au-Prince", "Etc/GMT+5": parts of letters, digits and _+-. Nothing else can be
 * spelled, and so no other directory: neither a root, nor "..", nor a hidden file. */
static bool is_name(struct str name)
{
    bool in_part = false;
    if (name.len == 0 || name.len > ZONE_NAME_BYTES_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        bool slash = name.ptr[i] == '/';
        if (slash ? !in_part : !is_name_char(name.ptr[i]))
            return false;
        in_part = !slash;
    }
    return in_part;
}

static enum rc refuse(struct str name, struct err *err)
{
    for (size_t i = 0; i < name.len && i < ZONE_NAME_BYTES_MAX; i++) {
        if (name.ptr[i] < ' ' || name.ptr[i] > '~')
            return err_set(err, RC_INVALID, "this is not the name of a time zone");
    }
    return err_set(err, RC_INVALID,
                   "'%.*s' is not the name of a time zone: expected one as in Europe/Berlin",
                   name.len > ZONE_NAME_BYTES_MAX ? ZONE_NAME_BYTES_MAX : (int)name.len, name.ptr);
}

/* ---- files */

static enum rc look(const struct zones *zones, const char *path, struct str name,
                    struct version *ret_version, struct err *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        *ret_version = (struct version){st.st_dev, st.st_ino, st.st_size, st.st_mtim};
        return RC_OK;
    }
    if (stat(zones->dir, &st) != 0)
        return err_set(err, RC_IO, "there are no time zones at %s: %s (the package is tzdata)",
                       zones->dir, strerror(errno));
    return refuse(name, err);
}

static bool same_version(const struct version *a, const struct version *b)
{
    return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static enum rc read_zone(const char *path, struct zone **ret_zone, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct str bytes;
    TRY(file_read(path, ZONE_BYTES_MAX, &arena, &bytes, err));
    if (zone_parse(bytes, ret_zone, err))
        return err_note(err, "%s", path);
    return RC_OK;
}

static enum rc find_locked(struct zones *zones, struct str name, int64_t trust_us,
                           const struct zone **ret_zone, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct entry *entry = strmap_get(&zones->by_name, name);
    struct version version = {0};
    struct zone *zone = NULL;
    int64_t now_us = clock_mono_us();
    if (entry != NULL && now_us - entry->looked_us < trust_us) {
        *ret_zone = entry->zone;
        return RC_OK;
    }
    const char *path = arena_printf(&arena, "%s/%.*s", zones->dir, STR_ARG(name)).ptr;
    TRY(look(zones, path, name, &version, err));
    if (entry != NULL && same_version(&entry->version, &version)) {
        entry->looked_us = now_us;
        *ret_zone = entry->zone;
        return RC_OK;
    }
    TRY(read_zone(path, &zone, err));
    struct entry *newer = MEM_NEW(struct entry);
    *newer = (struct entry){.older = entry,
                            .zone = zone,
                            .version = version,
                            .looked_us = now_us,
                            .name = mem_dup(name.ptr, name.len)};
    if (entry != NULL) /* its name is the key, which goes with the newest */
        strmap_remove(&zones->by_name, name);
    strmap_put(&zones->by_name, str_of(newer->name, name.len), newer);
    *ret_zone = zone;
    return RC_OK;
}

enum rc zones_find(struct zones *zones, struct str name, const struct zone **ret_zone,
                   struct err *err)
{
    if (!is_name(name))
        return refuse(name, err);
    if (str_eq(name, STR("UTC"))) {
        *ret_zone = zone_utc();
        return RC_OK;
    }
    pthread_mutex_lock(&zones->lock);
    enum rc rc = find_locked(zones, name, zones->trust_us, ret_zone, err);
    pthread_mutex_unlock(&zones->lock);
    return rc;
}

void zones_trust_ms(struct zones *zones, int64_t ms)
{
    zones->trust_us = ms * 1000;
}

/* ---- what changed */

struct news {
    const struct zone *old;
    const struct zone *newer;
};

struct news_list {
    struct news *items;
    size_t len;
    size_t cap;
};

static void add_news(struct arena *arena, struct news_list *list, struct entry *newest)
{
    for (struct entry *entry = newest->older; entry != NULL; entry = entry->older) {
        if (entry->told == TELL_TIMES)
            continue;
        entry->told++;
        *VEC_PUSH(arena, list) = (struct news){entry->zone, newest->zone};
    }
}

/* Reading a newer one moves entries within the map: so the names are taken first. */
static void refresh_locked(struct zones *zones, struct arena *arena, struct news_list *list)
{
    size_t count = 0;
    struct str *names = ARENA_ARRAY(arena, struct str, zones->by_name.len);
    for (size_t i = 0; i < zones->by_name.cap; i++) {
        if (zones->by_name.slots[i].value != NULL)
            names[count++] = arena_str(arena, zones->by_name.slots[i].key);
    }
    for (size_t i = 0; i < count; i++) {
        const struct zone *ignored;
        struct err err;
        (void)find_locked(zones, names[i], 0, &ignored, &err);
        add_news(arena, list, strmap_get(&zones->by_name, names[i]));
    }
}

void zones_refresh(struct zones *zones,
                   void (*on_newer)(void *arg, const struct zone *old, const struct zone *newer),
                   void *arg)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct news_list list = {0};
    pthread_mutex_lock(&zones->lock);
    refresh_locked(zones, &arena, &list);
    pthread_mutex_unlock(&zones->lock);
    for (size_t i = 0; i < list.len; i++)
        on_newer(arg, list.items[i].old, list.items[i].newer);
}
