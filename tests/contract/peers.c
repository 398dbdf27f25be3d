#include "peers.h"

bool is_shared(const struct world *w)
{
    return w->candidate->another != NULL;
}

struct peer peer_new(struct world *w, const char *name, const char *start)
{
    struct peer p = {.me = {.name = str_c(name),
                            .start = str_c(start),
                            .address = STR("http://127.0.0.1:1"),
                            .version = STR("1.0"),
                            .clock_ms = T0}};
    p.store = w->candidate->another(w->place);
    assert_rc(p.store->ops->member(p.store, &p.member, &w->err), RC_OK);
    return p;
}

void peer_free(struct peer *p)
{
    p->member->ops->close(p->member);
    p->store->ops->close(p->store);
}

enum rc peer_try_renew(struct world *w, struct peer *p, struct cluster_view *ret_view)
{
    enum rc rc =
        p->member->ops->renew(p->member, &p->me, p->lapsed_ms, &w->arena, ret_view, &w->err);
    p->seen = *ret_view;
    return rc;
}

struct cluster_view peer_renew(struct world *w, struct peer *p)
{
    struct cluster_view view = {0};
    assert_rc(peer_try_renew(w, p, &view), RC_OK);
    return view;
}

uint64_t peer_take(struct world *w, struct peer *p, uint64_t wanted)
{
    assert_rc(p->member->ops->take(p->member, &p->me, wanted, &p->seen, &p->own, &w->err), RC_OK);
    return ownership_set(&p->own).bits;
}

void peer_give_back(struct world *w, struct peer *p, uint64_t partitions)
{
    assert_rc(p->member->ops->release(p->member, partitions, &p->own, &w->err), RC_OK);
}

struct pair pair_new(struct world *w)
{
    struct pair pair = {peer_new(w, "a", "a-1"), peer_new(w, "b", "b-1")};
    /* The world's own handle has taken all that was free, as a first server does. */
    struct member *member;
    struct node_rec world = {.name = STR("world"), .start = STR("test")};
    assert_rc(w->store->ops->member(w->store, &member, &w->err), RC_OK);
    assert_rc(member->ops->leave(member, &world, &w->err), RC_OK);
    member->ops->close(member);
    peer_renew(w, &pair.a);
    peer_renew(w, &pair.b);
    return pair;
}

void pair_free(struct pair *pair)
{
    peer_free(&pair->a);
    peer_free(&pair->b);
}

void peers_pass(struct world *w, int64_t by_ms)
{
    w->candidate->pass(w->place, by_ms);
}

uint64_t peer_all(const struct peer *p)
{
    return partition_all(p->own.partitions).bits;
}

uint64_t peer_id_in(struct world *w, const struct peer *p, uint32_t partition)
{
    return id_next(&w->ids, T0, partition_first_bucket(p->own.partitions, partition));
}

struct job_change peer_job_in(struct world *w, const struct peer *p, uint32_t partition)
{
    struct job_change job = new_job(w);
    job.job.id = peer_id_in(w, p, partition);
    return job;
}

enum rc peer_commit_job(struct world *w, struct peer *p, const struct job_change *job)
{
    if (p->turn < p->own.turn_floor)
        p->turn = p->own.turn_floor;
    struct delta delta = {.turn = ++p->turn, .jobs = job, .job_count = 1};
    return p->store->ops->commit(p->store, &p->own, &delta, &w->err);
}
