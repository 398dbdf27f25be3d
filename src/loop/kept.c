#include "loop/kept.h"
#include "base/mem.h"
#include "loop/clock.h"

#include <pthread.h>
#include <stdlib.h>

struct item {
    int64_t since_ms; /* boot clock */
    char *key;        /* owned, as text; NULL: none */
    char *text;
    size_t key_len;
    size_t text_len;
};

struct kept {
    int64_t keep_ms;
    pthread_mutex_t lock;
    struct item items[KEPT_MAX];
    size_t next; /* the oldest */
};

struct kept *kept_new(int64_t keep_ms)
{
    struct kept *kept = MEM_NEW(struct kept);
    kept->keep_ms = keep_ms;
    pthread_mutex_init(&kept->lock, NULL);
    return kept;
}

static void item_free(struct item *item)
{
    free(item->key);
    free(item->text);
    *item = (struct item){0};
}

void kept_free(struct kept *kept)
{
    if (kept == NULL)
        return;
    for (size_t i = 0; i < KEPT_MAX; i++)
        item_free(&kept->items[i]);
    pthread_mutex_destroy(&kept->lock);
    free(kept);
}

bool kept_get(struct kept *kept, struct str key, struct buf *out)
{
    bool found = false;
    int64_t now_ms = clock_boot_ms();
    pthread_mutex_lock(&kept->lock);
    for (size_t i = 0; i < KEPT_MAX && !found; i++) {
        const struct item *item = &kept->items[i];
        found = item->key != NULL && now_ms - item->since_ms < kept->keep_ms &&
                str_eq(str_of(item->key, item->key_len), key);
        if (found)
            buf_add(out, str_of(item->text, item->text_len));
    }
    pthread_mutex_unlock(&kept->lock);
    return found;
}

void kept_put(struct kept *kept, struct str key, struct str text)
{
    if (text.len > KEPT_BYTES_MAX)
        return;
    pthread_mutex_lock(&kept->lock);
    struct item *item = &kept->items[kept->next++ % KEPT_MAX];
    item_free(item);
    *item = (struct item){clock_boot_ms(), mem_dup(key.ptr, key.len), mem_dup(text.ptr, text.len),
                          key.len, text.len};
    pthread_mutex_unlock(&kept->lock);
}
