#include "server/auth/wrong_keys.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MINUTE_MS = 60 * 1000 };

struct count {
    struct http_origin from;
    int64_t since_ms; /* monotonic: when its minute began */
    int wrong;        /* 0: a free place */
};

struct wrong_keys {
    pthread_mutex_t lock; /* of all below */
    struct count counts[WRONG_ADDRESSES];
    struct count rest; /* of all that found no place */
};

struct wrong_keys *wrong_keys_new(void)
{
    struct wrong_keys *wrong = MEM_NEW(struct wrong_keys);
    pthread_mutex_init(&wrong->lock, NULL);
    return wrong;
}

void wrong_keys_free(struct wrong_keys *wrong)
{
    if (wrong == NULL)
        return;
    pthread_mutex_destroy(&wrong->lock);
    free(wrong);
}

static bool is_over(const struct count *count, int64_t now_ms)
{
    return count->wrong == 0 || now_ms - count->since_ms >= MINUTE_MS;
}

/* Its own count, else a place whose minute is over. */
static struct count *count_of(struct wrong_keys *wrong, struct http_origin from, int64_t now_ms)
{
    struct count *found = &wrong->rest;
    for (size_t i = 0; i < WRONG_ADDRESSES; i++) {
        struct count *count = &wrong->counts[i];
        if (is_over(count, now_ms))
            found = found == &wrong->rest ? count : found;
        else if (memcmp(&count->from, &from, sizeof from) == 0)
            return count;
    }
    return found;
}

int wrong_keys_count(struct wrong_keys *wrong, struct http_origin from, int64_t now_ms)
{
    int seconds = 0;
    pthread_mutex_lock(&wrong->lock);
    struct count *count = count_of(wrong, from, now_ms);
    if (is_over(count, now_ms))
        *count = (struct count){.from = from, .since_ms = now_ms};
    if (count->wrong < WRONG_KEYS_A_MINUTE)
        count->wrong++;
    else
        seconds = (int)((count->since_ms + MINUTE_MS - now_ms + 999) / 1000);
    pthread_mutex_unlock(&wrong->lock);
    return seconds;
}
