#include "server/call/worker_versions.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char text[WORKER_VERSION_BYTES];
    atomic_size_t connections;
};

/* Entries stay where they are: connections point at their numbers. */
struct worker_versions {
    pthread_mutex_t lock; /* of count, and of the texts */
    size_t count;
    struct entry entries[WORKER_VERSIONS_MAX];
    struct entry others;
};

struct worker_versions *worker_versions_new(void)
{
    struct worker_versions *v = MEM_NEW(struct worker_versions);
    pthread_mutex_init(&v->lock, NULL);
    return v;
}

void worker_versions_free(struct worker_versions *v)
{
    if (v == NULL)
        return;
    pthread_mutex_destroy(&v->lock);
    free(v);
}

static bool is_version(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool digit = c >= '0' && c <= '9';
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!digit && !letter && c != '.' && c != '-' && c != '+')
            return false;
    }
    return text.len > 0 && text.len < WORKER_VERSION_BYTES;
}

/* Under the lock. */
static struct entry *find(struct worker_versions *v, struct str version)
{
    struct entry *unused = v->count < WORKER_VERSIONS_MAX ? &v->entries[v->count] : NULL;
    for (size_t i = 0; i < v->count; i++) {
        if (str_eq(str_c(v->entries[i].text), version))
            return &v->entries[i];
    }
    if (unused == NULL)
        return &v->others;
    v->count++;
    memcpy(unused->text, version.ptr, version.len);
    return unused;
}

atomic_size_t *worker_versions_of(struct worker_versions *v, struct str user_agent)
{
    static const struct str product = STR_INIT("belfry/");
    struct str version = str_from(user_agent, str_starts(user_agent, product) ? product.len : 0);
    if (version.len == user_agent.len || !is_version(version))
        return &v->others.connections;
    pthread_mutex_lock(&v->lock);
    struct entry *entry = find(v, version);
    pthread_mutex_unlock(&v->lock);
    return &entry->connections;
}

size_t worker_versions_look(struct worker_versions *v, struct arena *arena,
                            struct worker_version **ret_versions)
{
    struct worker_version *found =
        ARENA_ARRAY(arena, struct worker_version, WORKER_VERSIONS_MAX + 1);
    size_t count = 0;
    pthread_mutex_lock(&v->lock);
    for (size_t i = 0; i <= v->count; i++) {
        struct entry *entry = i < v->count ? &v->entries[i] : &v->others;
        found[count].connections = atomic_load(&entry->connections);
        memcpy(found[count].text, entry->text, sizeof entry->text);
        count += found[count].connections > 0;
    }
    pthread_mutex_unlock(&v->lock);
    *ret_versions = found;
    return count;
}
