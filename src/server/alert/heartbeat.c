#include "server/alert/heartbeat.h"
#include "base/log.h"
#include "base/mem.h"
#include "bridge/post.h"
#include "loop/clock.h"
#include "loop/mailbox.h"
#include "loop/thread.h"
#include "server/cluster/membership.h"
#include "server/metrics/metrics.h"
#include "server/turn/decider.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    POST_TIMEOUT_MS = 10000,
    PROOF_WAIT_US = 5000000, /* for a commit, where none came by itself */
    PROOF_LOOK_US = 50000,
};

struct heartbeat {
    struct server *server;
    struct thread *thread;
    struct mailbox *box; /* always empty: it is closed to end the thread */
    uint64_t commits;    /* of the decider, when it was last looked at */
    bool failing;        /* the newest one was not taken, and that was logged */
    bool withheld;       /* the same of one that was not sent, since nothing was kept */
    atomic_bool stopping;
};

/* The owner of the first partition speaks for all. */
static bool is_ours(const struct heartbeat *h)
{
    const struct membership *m = h->server->membership;
    return m == NULL || membership_owns(m, 0);
}

/* False: the server ends. */
static bool rest(struct heartbeat *h, int64_t for_us)
{
    return mailbox_wait(h->box, clock_mono_us() + for_us) != RC_SHUTDOWN;
}

/* The store has kept something since the last call. */
static bool has_kept(struct heartbeat *h)
{
    uint64_t before = h->commits;
    h->commits = decider_commits(h->server->decider);
    return h->commits != before;
}

static bool prove(struct heartbeat *h)
{
    int64_t until_us = clock_mono_us() + PROOF_WAIT_US;
    bool kept = has_kept(h);
    if (!kept)
        decider_prove(h->server->decider);
    while (!kept && clock_mono_us() < until_us && rest(h, PROOF_LOOK_US))
        kept = has_kept(h);
    return kept;
}

static void withhold(struct heartbeat *h)
{
    if (!h->withheld && !atomic_load(&h->stopping))
        log_warn("no heartbeat is sent: the store has kept nothing since the last one", NULL);
    h->withheld = true;
    metrics_heartbeat(h->server->metrics, BEAT_WITHHELD);
}

/* The address may have a secret in it, so the log does not say it. */
static void note(struct heartbeat *h, bool taken, const char *why)
{
    if (!taken && !h->failing && !atomic_load(&h->stopping))
        log_warn("a heartbeat was not taken; the next ones are tried as usual", "error", why, NULL);
    else if (taken && (h->failing || h->withheld))
        log_info("a heartbeat was taken again", NULL);
    h->failing = !taken;
    h->withheld = h->withheld && !taken;
    metrics_heartbeat(h->server->metrics, taken ? BEAT_SENT : BEAT_FAILED);
}

static void beat(struct heartbeat *h)
{
    static const char *const headers[] = {NULL};
    struct post post = {h->server->options->heartbeat_url, headers, STR(""), POST_TIMEOUT_MS,
                        &h->stopping};
    struct err err = {0};
    long status = 0;
    if (!prove(h)) {
        withhold(h);
        return;
    }
    enum rc rc = post_send(&post, &status, &err);
    if (rc == RC_OK)
        err_set(&err, RC_IO, "the answer was %ld", status);
    note(h, rc == RC_OK && status >= 200 && status <= 299, err.text);
}

static void run(void *arg)
{
    struct heartbeat *h = arg;
    int64_t every_us = (int64_t)h->server->options->heartbeat_ms * 1000;
    int64_t next_us = clock_mono_us();
    do {
        int64_t now_us = clock_mono_us();
        next_us = next_us + every_us > now_us ? next_us + every_us : now_us + every_us;
        if (is_ours(h))
            beat(h);
        else
            (void)has_kept(h); /* what counts is what is kept as the owner */
    } while (rest(h, next_us - clock_mono_us()));
}

enum rc heartbeat_start(struct server *server, struct heartbeat **ret_heartbeat, struct err *err)
{
    *ret_heartbeat = NULL;
    if (server->options->heartbeat_url[0] == '\0')
        return RC_OK;
    TRY(post_init(err));
    struct heartbeat *h = MEM_NEW(struct heartbeat);
    h->server = server;
    h->box = mailbox_new(1);
    h->commits = decider_commits(server->decider);
    if (thread_start("heartbeat", run, h, &h->thread, err) != RC_OK) {
        heartbeat_stop(h);
        return err->rc;
    }
    *ret_heartbeat = h;
    return RC_OK;
}

void heartbeat_stop(struct heartbeat *h)
{
    if (h == NULL)
        return;
    if (h->thread != NULL) {
        atomic_store(&h->stopping, true);
        mailbox_close(h->box);
        thread_join(h->thread);
    }
    mailbox_free(h->box);
    free(h);
}
