#include "server/alert/alert_sender.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "bridge/post.h"
#include "loop/clock.h"
#include "loop/file.h"
#include "loop/mailbox.h"
#include "loop/thread.h"
#include "server/cluster/membership.h"
#include "server/config/webhooks.h"
#include "server/turn/decider.h"
#include "store/store.h"
#include "wire/message/alert_json.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SECRET_BYTES = 24,
    SECRET_TEXT_MAX = 128,
    PAGE = 100, /* alerts looked at in one go */
    LOOK_US = 1000000,
    POST_TIMEOUT_MS = 10000,
    MESSAGE_BYTES_MAX = 1 << 16,
};

#define RETRY_FIRST_US INT64_C(5000000)
#define RETRY_LAST_US (INT64_C(3600) * 1000000)
#define GIVE_UP_MS (INT64_C(24) * 3600 * 1000)
#define SECRET_PREFIX "whsec_"
#define SECRET_FILE "webhook.key"

/* How far one alert has come. */
struct delivery {
    uint64_t alert_id;
    unsigned taken; /* a bit for each address */
    unsigned tries;
    int64_t next_us; /* mono clock */
    bool over;       /* sent or given up; a turn has been told */
    enum alert_state end;
};

struct alert_sender {
    struct server *server;
    struct thread *thread;
    struct mailbox *box; /* always empty: it is closed to end the thread */
    struct reader *reader;
    struct arena arena;    /* of one look */
    struct map deliveries; /* alert id -> struct delivery, owned; those that are pending */
    char *urls;            /* owned; the addresses, each NUL-ended */
    const char *webhooks[WEBHOOKS_MAX];
    unsigned webhook_count;
    unsigned char secret[SECRET_BYTES];
    atomic_bool stopping; /* remaining alerts wait for the next start */
};

/* ---- the secret */

static enum rc make_secret(const char *dir, struct err *err)
{
    unsigned char random[SECRET_BYTES];
    char text[SECRET_TEXT_MAX] = SECRET_PREFIX;
    randombytes_buf(random, sizeof random);
    sodium_bin2base64(text + strlen(SECRET_PREFIX), sizeof text - strlen(SECRET_PREFIX), random,
                      sizeof random, sodium_base64_VARIANT_ORIGINAL);
    return file_write_secret(dir, SECRET_FILE, str_c(text), err);
}

/* Also the rest of one whose writing was cut short: it was never told. */
static bool is_missing(enum rc read, struct str text)
{
    size_t whole = strlen(SECRET_PREFIX) +
                   sodium_base64_ENCODED_LEN(SECRET_BYTES, sodium_base64_VARIANT_ORIGINAL) - 1;
    struct str prefix = STR(SECRET_PREFIX);
    bool ours = text.len < prefix.len ? str_starts(prefix, text) : str_starts(text, prefix);
    return read == RC_NOT_FOUND || (read == RC_OK && ours && text.len < whole);
}

static enum rc read_secret(struct alert_sender *h, struct err *err)
{
    const char *dir = h->server->options->data_dir;
    const char *path = arena_printf(&h->arena, "%s/" SECRET_FILE, dir).ptr;
    struct str text = {0};
    size_t len;
    enum rc rc = file_read(path, SECRET_TEXT_MAX, &h->arena, &text, err);
    text = str_trim(text);
    if (is_missing(rc, text)) {
        TRY(make_secret(dir, err));
        rc = file_read(path, SECRET_TEXT_MAX, &h->arena, &text, err);
        text = str_trim(text);
    }
    TRY(rc);
    if (!str_starts(text, STR(SECRET_PREFIX)))
        return err_set(err, RC_INVALID, "%s: must begin with " SECRET_PREFIX, path);
    text = str_from(text, strlen(SECRET_PREFIX));
    if (sodium_base642bin(h->secret, sizeof h->secret, text.ptr, text.len, NULL, &len, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0 ||
        len != sizeof h->secret)
        return err_set(err, RC_INVALID, "%s: %d bytes in base64 are wanted behind " SECRET_PREFIX,
                       path, SECRET_BYTES);
    return RC_OK;
}

/* ---- one post */

/* "v1," and the base64 of HMAC-SHA256 over "id.timestamp.body". */
static struct str sign(struct alert_sender *h, const char *id, int64_t at_s, struct str body)
{
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    char text[sodium_base64_ENCODED_LEN(sizeof mac, sodium_base64_VARIANT_ORIGINAL)];
    struct str signed_text =
        arena_printf(&h->arena, "%s.%" PRId64 ".%.*s", id, at_s, STR_ARG(body));
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, h->secret, sizeof h->secret);
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)signed_text.ptr, signed_text.len);
    crypto_auth_hmacsha256_final(&state, mac);
    sodium_bin2base64(text, sizeof text, mac, sizeof mac, sodium_base64_VARIANT_ORIGINAL);
    return arena_printf(&h->arena, "webhook-signature: v1,%s", text);
}

/* Addresses often have a secret in them, so the log counts them. */
static bool post_one(struct alert_sender *h, const struct alert_rec *alert, unsigned webhook)
{
    char number[16];
    char id[ID_TEXT_MAX];
    char bytes[MESSAGE_BYTES_MAX];
    struct buf body = {.ptr = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    struct json_writer w = JSON_WRITER(&body);
    struct err err;
    long status = 0;
    int64_t at_s = clock_wall_ms() / 1000;
    id_format(id, ID_ALERT, alert->id);
    snprintf(number, sizeof number, "%u", webhook + 1);
    alert_message_print(&w, alert, server_public_url(h->server->options));
    const char *headers[] = {
        "content-type: application/json",
        arena_printf(&h->arena, "webhook-id: %s", id).ptr,
        arena_printf(&h->arena, "webhook-timestamp: %" PRId64, at_s).ptr,
        sign(h, id, at_s, buf_str(&body)).ptr,
        NULL,
    };
    struct post post = {h->webhooks[webhook], headers, buf_str(&body), POST_TIMEOUT_MS,
                        &h->stopping};
    if (post_send(&post, &status, &err) != RC_OK)
        log_warn("an alert could not be sent", "alert", id, "webhook", number, "error", err.text,
                 NULL);
    else if (status < 200 || status > 299)
        log_warn("a webhook did not take an alert", "alert", id, "webhook", number, NULL);
    return status >= 200 && status <= 299;
}

/* ---- one alert */

static struct delivery *delivery_of(struct alert_sender *h, uint64_t alert_id)
{
    struct delivery *d = map_get(&h->deliveries, alert_id);
    if (d == NULL) {
        d = MEM_NEW(struct delivery);
        d->alert_id = alert_id;
        map_put(&h->deliveries, alert_id, d);
    }
    return d;
}

static void end(struct alert_sender *h, struct delivery *d, enum alert_state state)
{
    d->over = true;
    d->end = state;
    decider_alert_sent(h->server->decider, &(struct alert_mark){d->alert_id, state});
}

/* An address that did not take one in this look is left alone until the next: *down has a bit for
 * each, so that a dead one costs one time-out and not a hundred. */
static void deliver(struct alert_sender *h, const struct alert_rec *alert, unsigned *down)
{
    struct delivery *d = delivery_of(h, alert->id);
    if (d->over) { /* the turn that was told could not be kept, or is not yet */
        end(h, d, d->end);
        return;
    }
    if (clock_mono_us() < d->next_us)
        return;
    for (unsigned i = 0; i < h->webhook_count && !atomic_load(&h->stopping); i++) {
        unsigned bit = 1U << i;
        if (((d->taken | *down) & bit) != 0)
            continue;
        *(post_one(h, alert, i) ? &d->taken : down) |= bit;
    }
    int64_t pause_us = RETRY_FIRST_US << (d->tries < 10 ? d->tries : 10);
    d->next_us = clock_mono_us() + (pause_us < RETRY_LAST_US ? pause_us : RETRY_LAST_US);
    d->tries++;
    if (d->taken == (1U << h->webhook_count) - 1)
        end(h, d, ALERT_SENT);
    else if (clock_wall_ms() - alert->at_ms > GIVE_UP_MS)
        end(h, d, ALERT_GIVEN_UP);
}

/* Alerts that a turn has marked are no longer pending, and of no more interest. */
static void forget_marked(struct alert_sender *h, const struct alert_page *page)
{
    struct map still = {0};
    for (size_t i = 0; i < page->count; i++) {
        void *d = map_remove(&h->deliveries, page->alerts[i].id);
        if (d != NULL)
            map_put(&still, page->alerts[i].id, d);
    }
    MAP_EACH(&h->deliveries, slot) free(slot->value);
    map_free(&h->deliveries);
    h->deliveries = still;
}

/* Others tell about theirs, and would be told twice. */
static bool is_ours(const struct alert_sender *h, const struct alert_rec *alert)
{
    const struct membership *m = h->server->membership;
    return m == NULL || membership_owns(m, alert->id);
}

static void look(struct alert_sender *h)
{
    struct alert_page page;
    struct err err;
    struct page newest = {.limit = PAGE};
    arena_reset(&h->arena);
    if (h->reader->ops->alerts(h->reader, ALERT_PENDING, &newest, &h->arena, &page, &err) !=
        RC_OK) {
        log_warn("pending alerts cannot be read", "error", err.text, NULL);
        return;
    }
    unsigned down = 0;
    size_t pending = 0;
    for (size_t i = 0; i < page.count; i++)
        pending += is_ours(h, &page.alerts[i]);
    atomic_store(&h->server->alerts_pending, pending);
    forget_marked(h, &page);
    for (size_t i = page.count; i-- > 0 && !atomic_load(&h->stopping);) {
        if (is_ours(h, &page.alerts[i]))
            deliver(h, &page.alerts[i], &down);
    }
}

static void run(void *arg)
{
    struct alert_sender *h = arg;
    while (mailbox_wait(h->box, clock_mono_us() + LOOK_US) != RC_SHUTDOWN)
        look(h);
}

/* ---- starting, ending */

static enum rc begin(struct alert_sender *h, struct err *err)
{
    struct store *store = h->server->store;
    const char *webhooks = h->server->options->alert_webhooks;
    TRY(post_init(err));
    h->urls = mem_dup(webhooks, strlen(webhooks) + 1);
    TRY(webhooks_split(h->urls, h->webhooks, &h->webhook_count, err));
    TRY(read_secret(h, err));
    TRY(store->ops->reader(store, &h->reader, err));
    h->box = mailbox_new(1);
    return thread_start("alert_sender", run, h, &h->thread, err);
}

enum rc alert_sender_start(struct server *server, struct alert_sender **ret_sender, struct err *err)
{
    *ret_sender = NULL;
    if (server->options->alert_webhooks[0] == '\0')
        return RC_OK;
    struct alert_sender *h = MEM_NEW(struct alert_sender);
    h->server = server;
    if (begin(h, err) != RC_OK) {
        alert_sender_stop(h);
        return err->rc;
    }
    *ret_sender = h;
    return RC_OK;
}

void alert_sender_stop(struct alert_sender *h)
{
    if (h == NULL)
        return;
    if (h->thread != NULL) {
        atomic_store(&h->stopping, true);
        mailbox_close(h->box);
        thread_join(h->thread);
    }
    mailbox_free(h->box);
    if (h->reader != NULL)
        h->reader->ops->close(h->reader);
    MAP_EACH(&h->deliveries, slot) free(slot->value);
    map_free(&h->deliveries);
    arena_free(&h->arena);
    free(h->urls);
    sodium_memzero(h->secret, sizeof h->secret);
    free(h);
}
