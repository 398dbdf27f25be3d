#include "worker/link/lease_set.h"
#include "base/buf.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN_MS = 1000 }; /* from the kill to the end of the lease */

#define TTL_MS_MAX (INT64_C(366) * 24 * 3600 * 1000)

enum held_state {
    HELD_RUNNING,
    HELD_VOID,  /* running, for nobody */
    HELD_ENDED, /* has a result */
};

struct held {
    struct list_node node;
    uint64_t exec_id;
    uint64_t token;
    enum held_state state;
    bool expired; /* was visited by lease_set_expire */
    bool bare;    /* the result has lost all but its outcome */
    int64_t ttl_ms;
    int64_t deadline_ms; /* boot clock */
    int64_t told_ms;     /* the deadline that the owner knows */
    uint64_t since_seq;  /* the first poll that names it */
    uint64_t in_seq;     /* the poll under way that carries the result; 0: none */
    struct poll_result result;
    char *text; /* owned: texts that result borrows */
};

void lease_set_init(struct lease_set *h)
{
    *h = (struct lease_set){.deadline_ms = INT64_MAX};
    list_init(&h->running);
    list_init(&h->ended);
}

/* Looking for the next deadline each time would make ten thousand ends cost their square. */
static void leave_running(struct lease_set *h, const struct held *held)
{
    assert(h->running_count > 0 && held->state != HELD_ENDED);
    h->running_count--;
    h->deadline_stale |= held->deadline_ms == h->deadline_ms;
}

static void forget(struct lease_set *h, struct held *take_held)
{
    assert(map_get(&h->by_exec, take_held->exec_id) == take_held);
    assert(take_held->state != HELD_ENDED || h->ended_count > 0);
    list_remove(&take_held->node);
    if (take_held->state == HELD_ENDED)
        h->ended_count--;
    else
        leave_running(h, take_held);
    map_remove(&h->by_exec, take_held->exec_id);
    free(take_held->text);
    free(take_held);
}

static struct held *held_of(struct list_node *node)
{
    return CONTAINER_OF(node, struct held, node);
}

void lease_set_free(struct lease_set *h)
{
    LIST_EACH(&h->running, node)
    {
        forget(h, held_of(node));
    }
    LIST_EACH(&h->ended, node)
    {
        forget(h, held_of(node));
    }
    map_free(&h->by_exec);
}

static struct held *find(const struct lease_set *h, uint64_t exec_id, uint64_t token)
{
    struct held *held = map_get(&h->by_exec, exec_id);
    return held != NULL && held->token == token ? held : NULL;
}

bool lease_set_runs(const struct lease_set *h, uint64_t exec_id, uint64_t token)
{
    const struct held *held = find(h, exec_id, token);
    return held != NULL && held->state == HELD_RUNNING;
}

static bool is_of(const struct held *held, const struct partition_set *of)
{
    return of == NULL || of->count == 0 || partition_has(of, held->exec_id);
}

/* ---- terms */

/* The wire takes any length. A lease that we take for shorter than it is only ends too early. */
static int64_t deadline_of(int64_t sent_ms, int64_t ttl_ms)
{
    if (ttl_ms > TTL_MS_MAX)
        ttl_ms = TTL_MS_MAX;
    int64_t margin_ms = ttl_ms / 4 < MARGIN_MS ? ttl_ms / 4 : MARGIN_MS;
    return sent_ms + ttl_ms - margin_ms;
}

static void set_term(struct lease_set *h, struct held *held, int64_t sent_ms)
{
    int64_t deadline_ms = deadline_of(sent_ms, held->ttl_ms);
    if (deadline_ms > held->deadline_ms) /* replies may come out of order */
        held->deadline_ms = deadline_ms;
    if (held->deadline_ms < h->deadline_ms)
        h->deadline_ms = held->deadline_ms;
}

static void find_deadline(struct lease_set *h)
{
    h->deadline_ms = INT64_MAX;
    h->deadline_stale = false;
    LIST_EACH(&h->running, node)
    {
        const struct held *held = held_of(node);
        if (!held->expired && held->deadline_ms < h->deadline_ms)
            h->deadline_ms = held->deadline_ms;
    }
}

void lease_set_renew(struct lease_set *h, uint64_t seq, int64_t sent_ms,
                     const struct partition_set *of)
{
    LIST_EACH(&h->running, node)
    {
        struct held *held = held_of(node);
        if (held->state == HELD_RUNNING && held->since_seq <= seq && is_of(held, of))
            set_term(h, held, sent_ms);
    }
    find_deadline(h);
}

void lease_set_keep(struct lease_set *h, const struct poll_held *kept, size_t count,
                    int64_t sent_ms, const struct partition_set *of)
{
    for (size_t i = 0; i < count; i++) {
        struct held *held = find(h, kept[i].exec_id, kept[i].token);
        if (held != NULL && held->state == HELD_RUNNING && is_of(held, of))
            set_term(h, held, sent_ms);
    }
    find_deadline(h);
}

int64_t lease_set_deadline_ms(const struct lease_set *h, const struct partition_set *of)
{
    int64_t deadline_ms = INT64_MAX;
    LIST_EACH(&h->running, node)
    {
        const struct held *held = held_of(node);
        if (held->state == HELD_RUNNING && held->deadline_ms < deadline_ms && is_of(held, of))
            deadline_ms = held->deadline_ms;
    }
    return deadline_ms;
}

int64_t lease_set_term_ms(const struct lease_set *h, uint64_t exec_id)
{
    const struct held *held = map_get(&h->by_exec, exec_id);
    return held == NULL || held->state == HELD_ENDED ? INT64_MAX : held->deadline_ms;
}

void lease_set_tell(struct lease_set *h, lease_set_moved *visit, void *arg)
{
    LIST_EACH(&h->running, node)
    {
        struct held *held = held_of(node);
        if (held->told_ms == held->deadline_ms)
            continue;
        held->told_ms = held->deadline_ms;
        visit(arg, held->exec_id, held->token, held->deadline_ms);
    }
}

void lease_set_expire(struct lease_set *h, int64_t now_ms, lease_set_visit *visit, void *arg)
{
    if (h->deadline_stale)
        find_deadline(h);
    if (now_ms < h->deadline_ms)
        return;
    LIST_EACH(&h->running, node)
    {
        struct held *held = held_of(node);
        if (held->expired || now_ms < held->deadline_ms)
            continue;
        held->expired = true;
        visit(arg, held->exec_id, held->token);
    }
    find_deadline(h);
}

void lease_set_void(struct lease_set *h, lease_set_visit *visit, void *arg)
{
    LIST_EACH(&h->ended, node)
    {
        forget(h, held_of(node));
    }
    LIST_EACH(&h->running, node)
    {
        struct held *held = held_of(node);
        held->state = HELD_VOID;
        held->expired = true;
        visit(arg, held->exec_id, held->token);
    }
    find_deadline(h);
}

/* ---- lives */

bool lease_set_accept(struct lease_set *h, const struct poll_lease *lease, uint64_t next_seq,
                      int64_t sent_ms, int64_t now_ms)
{
    if (now_ms >= deadline_of(sent_ms, lease->ttl_ms))
        return false;
    struct held *old = map_get(&h->by_exec, lease->exec_id);
    if (old != NULL && (old->state != HELD_ENDED || old->token >= lease->token))
        return false;
    if (old != NULL) /* a newer token: no server will take the old one's result any more */
        forget(h, old);

    struct held *held = MEM_NEW(struct held);
    held->exec_id = lease->exec_id;
    held->token = lease->token;
    held->ttl_ms = lease->ttl_ms;
    held->since_seq = next_seq;
    set_term(h, held, sent_ms);
    held->told_ms = held->deadline_ms;
    map_put(&h->by_exec, held->exec_id, held);
    list_push_back(&h->running, &held->node);
    h->running_count++;
    return true;
}

/* Copies what result borrows into one block of our own. */
static void keep_texts(struct held *held, const struct poll_result *result)
{
    size_t len = result->result.len + result->error.len + result->tail.len;
    held->text = len == 0 ? NULL : mem_new(len);
    struct buf text = {.ptr = held->text, .cap = len, .max = len};
    buf_add(&text, result->result);
    buf_add(&text, result->error);
    buf_add(&text, result->tail);
    held->result = *result;
    held->result.result = str_of(held->text, result->result.len);
    held->result.error = str_of(held->text + result->result.len, result->error.len);
    held->result.tail = str_of(held->text + len - result->tail.len, result->tail.len);
}

bool lease_set_end(struct lease_set *h, const struct poll_result *result)
{
    struct held *held = find(h, result->exec_id, result->token);
    if (held == NULL || held->state == HELD_ENDED)
        return false;
    if (held->state == HELD_VOID) {
        forget(h, held);
        return false;
    }
    keep_texts(held, result);
    list_remove(&held->node);
    leave_running(h, held);
    held->state = HELD_ENDED;
    list_push_back(&h->ended, &held->node);
    h->ended_count++;
    return true;
}

/* ---- polls */

/* Also leases that other servers own: the one that gets the poll may have taken them since, and
 * have heard of it by an older poll that was long on its way; not named then, it would count as
 * lost. */
static struct poll_held *name_running(struct lease_set *h, struct poll_held *out)
{
    LIST_EACH(&h->running, node)
    {
        const struct held *held = held_of(node);
        if (held->state == HELD_RUNNING)
            *out++ = (struct poll_held){.exec_id = held->exec_id, .token = held->token};
    }
    return out;
}

void lease_set_fill(struct lease_set *h, struct poll *poll, const struct partition_set *of,
                    size_t result_max, size_t result_bytes_max, struct arena *arena)
{
    struct poll_held *names =
        ARENA_ARRAY(arena, struct poll_held, h->running_count + h->ended_count);
    struct poll_held *names_end = name_running(h, names);
    struct poll_result *results = ARENA_ARRAY(arena, struct poll_result, h->ended_count);
    size_t count = 0;
    size_t bytes = 0;

    LIST_EACH(&h->ended, node)
    {
        struct held *held = held_of(node);
        if (is_of(held, of))
            bytes += held->result.result.len + held->result.error.len + held->result.tail.len;
        if (!is_of(held, of) || (count > 0 && (count >= result_max || bytes > result_bytes_max))) {
            /* Its turn comes; unnamed it would count as lost. */
            *names_end++ = (struct poll_held){.exec_id = held->exec_id, .token = held->token};
            continue;
        }
        held->in_seq = poll->seq;
        results[count++] = held->result;
    }
    assert(count + (size_t)(names_end - names) <= h->running_count + h->ended_count);
    poll->held = names;
    poll->held_count = (size_t)(names_end - names);
    poll->results = results;
    poll->result_count = count;
}

/* New ones join at the end, and are found at once. */
bool lease_set_wait(const struct lease_set *h, const struct partition_set *of)
{
    const struct list_node *head = &h->ended.head;
    for (struct list_node *node = head->prev; node != head; node = node->prev) {
        if (held_of(node)->in_seq == 0 && is_of(held_of(node), of))
            return true;
    }
    return false;
}

bool lease_set_any(const struct lease_set *h, const struct partition_set *of)
{
    LIST_EACH(&h->ended, node)
    {
        if (is_of(held_of(node), of))
            return true;
    }
    return lease_set_deadline_ms(h, of) != INT64_MAX;
}

void lease_set_verdict(struct lease_set *h, const struct poll_verdict *verdict)
{
    struct held *held = find(h, verdict->exec_id, verdict->token);
    if (held != NULL && held->state == HELD_ENDED)
        forget(h, held);
}

void lease_set_landed(struct lease_set *h, uint64_t seq)
{
    LIST_EACH(&h->ended, node)
    {
        struct held *held = held_of(node);
        if (held->in_seq == seq)
            held->in_seq = 0;
    }
}

bool lease_set_reword(struct lease_set *h, uint64_t seq)
{
    bool any = false;
    LIST_EACH(&h->ended, node)
    {
        struct held *held = held_of(node);
        if (held->in_seq != seq || held->result.code != POLL_CODE_SPAWNER_DIED)
            continue;
        held->result.code = POLL_CODE_NONE;
        held->result.outcome = OUTCOME_FAILED;
        held->result.class = FAILURE_UNKNOWN;
        held->result.permanent = PERMANENT_NO;
        any = true;
    }
    return any;
}

static void strip(struct held *held)
{
    struct poll_result *result = &held->result;
    bool succeeded = result->outcome == OUTCOME_SUCCEEDED;
    bool for_good = result->outcome == OUTCOME_FAILED && result->permanent == PERMANENT_YES;
    held->bare = true;
    *result = (struct poll_result){
        .exec_id = result->exec_id,
        .token = result->token,
        .outcome = for_good ? OUTCOME_PERMANENT : result->outcome,
        .usage = result->usage,
        .error =
            succeeded ? STR("its result was left out, since the server refused it") : result->error,
    };
}

bool lease_set_strip(struct lease_set *h, uint64_t seq)
{
    bool any = false;
    LIST_EACH(&h->ended, node)
    {
        struct held *held = held_of(node);
        if (held->in_seq != seq || held->bare)
            continue;
        strip(held);
        any = true;
    }
    return any;
}

void lease_set_drop(struct lease_set *h, uint64_t seq)
{
    LIST_EACH(&h->ended, node)
    {
        struct held *held = held_of(node);
        if (held->in_seq == seq)
            forget(h, held);
    }
}
