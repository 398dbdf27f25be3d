/* fake_member_test.h - a store of nothing but members, nodes and partitions, whose clock the test
 * sets; included by tests only. */
#pragma once
#include "base/mem.h"
#include "base/test/test.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 600, PARTITIONS = 16 };

/* What the store would hold; rows of nodes are never moved, so that texts can be borrowed. */
struct fake {
    int64_t now_ms;
    bool dead[NODES]; /* who does not renew meanwhile */
    struct node_rec nodes[NODES];
    size_t node_count;
    struct partition_rec partitions[PARTITIONS];
    enum rc fails; /* every call, unless RC_OK */
    uint64_t lost_turns;
};

struct fake_member {
    struct member member;
    struct fake *cluster;
};

static struct fake cluster; /* store->ops->member knows nothing but the store */

static struct node_rec *row_of(struct fake *c, struct str name)
{
    for (size_t i = 0; i < c->node_count; i++) {
        if (str_eq(c->nodes[i].name, name))
            return &c->nodes[i];
    }
    return NULL;
}

static const struct node_rec *start_of(const struct fake *c, struct str start)
{
    for (size_t i = 0; i < c->node_count; i++) {
        if (str_eq(c->nodes[i].start, start))
            return &c->nodes[i];
    }
    return NULL;
}

static enum rc fake_renew(struct member *member, const struct node_rec *me, int64_t lapsed_ms,
                          struct arena *arena, struct cluster_view *ret_view, struct err *err)
{
    struct fake *c = ((struct fake_member *)member)->cluster;
    struct node_rec *row = row_of(c, me->name);
    if (c->fails != RC_OK)
        return err_set(err, c->fails, "the fake was told to fail");
    bool taken = row != NULL && !str_eq(row->start, me->start) && row->seen_ms != lapsed_ms;
    if (row == NULL) {
        assert_true(c->node_count < NODES);
        row = &c->nodes[c->node_count++];
    }
    for (size_t i = 0; i < c->node_count; i++) { /* all that are there go on renewing meanwhile */
        if ((&c->nodes[i] != row || taken) && !c->dead[i])
            c->nodes[i].seen_ms++;
    }
    if (!taken) {
        *row = *me;
        row->seen_ms = ++c->now_ms;
        c->dead[row - c->nodes] = false;
    }
    *ret_view = (struct cluster_view){
        .now_ms = c->now_ms,
        .settings_version = 1,
        .lost_turns = c->lost_turns,
        .nodes = ARENA_ARRAY(arena, struct node_rec, c->node_count),
        .node_count = c->node_count,
        .partitions = ARENA_ARRAY(arena, struct partition_rec, PARTITIONS),
        .partition_count = PARTITIONS,
    };
    memcpy(ret_view->nodes, c->nodes, c->node_count * sizeof c->nodes[0]);
    memcpy(ret_view->partitions, c->partitions, sizeof c->partitions);
    return taken ? err_set(err, RC_CONFLICT, "there is one of that name") : RC_OK;
}

static enum rc fake_take(struct member *member, const struct node_rec *me, uint64_t wanted,
                         const struct cluster_view *view, struct ownership *own, struct err *err)
{
    struct fake *c = ((struct fake_member *)member)->cluster;
    if (c->fails != RC_OK)
        return err_set(err, c->fails, "the fake was told to fail");
    for (size_t p = 0; p < PARTITIONS; p++) {
        struct partition_rec *rec = &c->partitions[p];
        const struct node_rec *owner = start_of(c, rec->owner);
        if (!(wanted >> p & 1) ||
            (owner != NULL && owner->seen_ms != view->nodes[owner - c->nodes].seen_ms))
            continue;
        if (rec->owner.len > 0) {
            rec->unsure_ms = me->lease_ms + me->grace_ms;
            own->deprived |= UINT64_C(1) << p;
        }
        own->unsure_ms[p] = rec->unsure_ms;
        rec->former = rec->owner;
        rec->owner = me->start;
        own->epochs[p] = ++rec->epoch;
    }
    return RC_OK;
}

static enum rc fake_release(struct member *member, uint64_t partitions, struct ownership *own,
                            struct err *err)
{
    struct fake *c = ((struct fake_member *)member)->cluster;
    if (c->fails != RC_OK)
        return err_set(err, c->fails, "the fake was told to fail");
    for (size_t p = 0; p < PARTITIONS; p++) {
        if (!(partitions >> p & 1))
            continue;
        c->partitions[p].former = c->partitions[p].owner;
        c->partitions[p].owner = STR("");
        c->partitions[p].unsure_ms = own->unsure_ms[p];
        own->epochs[p] = 0;
    }
    return RC_OK;
}

static enum rc fake_ensure(struct member *member, uint64_t partitions, struct ownership *own,
                           struct err *err)
{
    struct fake *c = ((struct fake_member *)member)->cluster;
    (void)err;
    for (size_t p = 0; p < PARTITIONS; p++) {
        if (partitions >> p & 1)
            c->partitions[p].unsure_ms = own->unsure_ms[p] = 0;
    }
    return RC_OK;
}

static enum rc fake_recover(struct member *member, const struct node_rec *me, struct ownership *own,
                            struct err *err)
{
    struct fake *c = ((struct fake_member *)member)->cluster;
    (void)err;
    c->lost_turns = 0;
    for (size_t p = 0; p < PARTITIONS; p++) {
        struct partition_rec *rec = &c->partitions[p];
        bool mine = str_eq(rec->owner, me->start);
        rec->epoch += mine ? 1000 : 0;
        own->epochs[p] = mine ? rec->epoch : 0;
    }
    return RC_OK;
}

static enum rc fake_leave(struct member *member, const struct node_rec *me, struct err *err)
{
    (void)member;
    (void)me;
    (void)err;
    return RC_OK;
}

static enum rc fake_forget(struct member *member, const struct node_rec *nodes, size_t count,
                           struct err *err)
{
    (void)member;
    (void)nodes;
    (void)count;
    (void)err;
    return RC_OK;
}

static void fake_close(struct member *member)
{
    free(member);
}

static enum rc fake_member(struct store *store, struct member **ret_member, struct err *err)
{
    static const struct member_ops ops = {
        .renew = fake_renew,
        .take = fake_take,
        .recover = fake_recover,
        .release = fake_release,
        .ensure = fake_ensure,
        .leave = fake_leave,
        .forget = fake_forget,
        .close = fake_close,
    };
    (void)store;
    (void)err;
    struct fake_member *m = MEM_NEW(struct fake_member);
    m->member.ops = &ops;
    m->cluster = &cluster;
    *ret_member = &m->member;
    return RC_OK;
}

static const struct store_ops store_ops = {.member = fake_member};
static struct store store = {.ops = &store_ops};
