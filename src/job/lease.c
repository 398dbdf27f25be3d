#include "job/lease.h"
#include "base/plant.h"

#include <assert.h>
#include <inttypes.h>

struct lease lease_grant(const struct lease *prev, uint64_t worker_id, int64_t now_ms,
                         int64_t ttl_ms)
{
    assert(worker_id != 0 && ttl_ms > 0);
    assert(prev->token < INT64_MAX); /* databases keep it signed */
    return (struct lease){
        .worker_id = worker_id,
        .token = PLANTED(token_not_raised) && prev->token > 0 ? prev->token : prev->token + 1,
        .ends_ms = now_ms + ttl_ms,
        .held = true,
    };
}

enum rc lease_check(const struct lease *held, uint64_t worker_id, uint64_t token, struct err *err)
{
    /* Both came over the wire: wrong ones are an answer to give, not a bug to assert. */
    bool same_token = held->token == token || PLANTED(old_token_accepted);
    if (lease_holder(held) == worker_id && same_token && worker_id != 0)
        return RC_OK;
    return err_set(err, RC_STALE, "token %" PRIu64 " was superseded by %" PRIu64, token,
                   held->token);
}

bool lease_was(const struct lease *free, uint64_t worker_id, uint64_t token)
{
    return !free->held && worker_id != 0 && free->worker_id == worker_id && free->token == token;
}

void lease_renew(struct lease *held, int64_t now_ms, int64_t ttl_ms)
{
    assert(ttl_ms > 0);
    if (now_ms + ttl_ms > held->ends_ms) /* a shorter term takes nothing back */
        held->ends_ms = now_ms + ttl_ms;
}

void lease_release(struct lease *held)
{
    held->held = false;
    held->ends_ms = 0;
    held->confirmed = false;
    held->unsure = false;
}

enum standing grant_standing(const struct grant *grant, uint64_t worker_id, uint64_t token)
{
    if (worker_id == 0)
        return STANDING_NONE;
    bool newest = grant->live && grant->newest == token;
    if (newest && grant->holder_id == worker_id)
        return STANDING_HELD;
    if (grant->past_id != worker_id)
        return STANDING_NONE;
    return newest && grant->holder_id == 0 ? STANDING_LATE : STANDING_PAST;
}
