/* member.c - other servers: those that are there, and the partitions that each owns. */
#include "base/mem.h"
#include "base/vec.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

#include <stdlib.h>
#include <string.h>

enum {
    ANSWER_MS = 3000,        /* within a lease there is time for another try, perhaps elsewhere */
    MARKS_KEEP_MS = 3600000, /* of servers that are gone */
};

struct postgres_member {
    struct member member;
    struct postgres_store *store; /* borrowed */
    struct pg pg;
    bool has_row; /* we were there, so a missing one was taken */
};

static struct postgres_member *of(struct member *member)
{
    return (struct postgres_member *)(void *)member;
}

/* ---- renewing */

static void read_nodes(const struct pg_call *use, struct arena *arena, struct cluster_view *view)
{
    view->nodes = ARENA_ARRAY(arena, struct node_rec, pg_rows(use));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct row row = pg_row(use, i, arena);
        struct node_rec node = {0};
        node.name = row_text(&row);
        node.start = row_text(&row);
        node.address = row_text(&row);
        node.version = row_text(&row);
        node.draining = row_bool(&row);
        node.started_ms = row_ms(&row);
        node.seen_ms = row_ms(&row);
        node.clock_ms = row_i64(&row);
        node.lease_ms = row_i64(&row);
        node.grace_ms = row_i64(&row);
        node.boot_id = row_text(&row);
        node.time_ms = row_i64(&row);
        if (!row.bad)
            view->nodes[view->node_count++] = node;
    }
}

static enum rc read_partitions(const struct pg_call *use, struct arena *arena,
                               struct cluster_view *view, struct err *err)
{
    view->partition_count = pg_rows(use);
    view->partitions = ARENA_ARRAY(arena, struct partition_rec, view->partition_count);
    for (size_t i = 0; i < view->partition_count; i++) {
        struct row row = pg_row(use, i, arena);
        struct partition_rec *partition = &view->partitions[i];
        uint64_t id = row_u64(&row);
        partition->epoch = row_u64(&row);
        partition->owner = row_text(&row);
        partition->former = row_text(&row);
        partition->since_ms = row_ms(&row);
        partition->unsure_ms = row_i64(&row);
        if (row.bad || id != i || i >= PARTITIONS_MAX)
            return err_set(err, RC_CORRUPT, "%s: the partitions are corrupt", pg_label(use));
    }
    return RC_OK;
}

static void bind_node(struct pg_call *use, const struct node_rec *me, int64_t lapsed_ms,
                      bool has_row)
{
    pg_text(use, me->name);
    pg_text(use, me->start);
    pg_text(use, me->address);
    pg_text(use, me->version);
    pg_bool(use, me->draining);
    pg_i64(use, me->clock_ms);
    pg_i64(use, lapsed_ms);
    pg_bool(use, has_row);
    pg_text(use, me->replaces);
    pg_i64(use, me->lease_ms);
    pg_i64(use, me->grace_ms);
    pg_text(use, me->boot_id);
}

static void name_writer(struct postgres_member *m, const struct node_rec *me)
{
    struct pg_call *use = pg_call(&m->pg, Q_NAME_WRITER);
    pg_text(use, me->start);
    pg_text(use, arena_printf(&m->pg.arena, "%.*s/%s", STR_ARG(me->start), m->store->writer));
}

/* No error of the database means that another server has our name. */
static enum rc not_a_conflict(enum rc rc, struct err *err)
{
    if (rc != RC_CONFLICT && rc != RC_DEPOSED)
        return rc;
    if (err != NULL)
        err->rc = RC_IO;
    return RC_IO;
}

/* One statement is one transaction here, and all of them are one round trip. Sending a renewal
 * twice is harmless, so a connection that was lost meanwhile is nobody's concern. */
static enum rc renew(struct member *member, const struct node_rec *me, int64_t lapsed_ms,
                     struct arena *arena, struct cluster_view *ret_view, struct err *err)
{
    struct postgres_member *m = of(member);
    PG_CLEAR(&m->pg);
    postgres_set_owner(m->store, me->start); /* before anybody else is there to read it */
    struct pg_call *renewed = pg_call(&m->pg, Q_RENEW_NODE);
    bind_node(renewed, me, lapsed_ms, m->has_row);
    pg_i64(renewed, me->time_ms);
    name_writer(m, me);
    struct pg_call *nodes = pg_call(&m->pg, Q_READ_NODES);
    struct pg_call *partitions = pg_call(&m->pg, Q_READ_PARTITIONS);
    struct pg_call *cluster = pg_call(&m->pg, Q_READ_CLUSTER);
    pg_text(cluster, str_c(m->store->writer));
    const struct mark_asked asked = marks_ask(&m->store->marks); /* a later one is as good */
    TRY(not_a_conflict(pg_run(&m->pg, err), err));
    *ret_view = (struct cluster_view){0};
    read_nodes(nodes, arena, ret_view);
    if (pg_rows(renewed) == 0)
        return err_set(err, m->has_row ? RC_DEPOSED : RC_CONFLICT,
                       "another server is there under the name %.*s; give each one its own "
                       "(setting node)",
                       STR_ARG(me->name));
    m->has_row = true;
    struct cluster_view view = *ret_view;
    struct row row = pg_row(cluster, 0, NULL);
    view.now_ms = row_ms(&row);
    view.settings_version = row_u64(&row);
    view.lost_turns = marks_lost(&m->store->marks, &asked, row_u64(&row));
    marks_set_chained(&m->store->marks, row_bool(&row));
    view.newest_id = row_u64(&row);
    TRY(read_partitions(partitions, arena, &view, err));
    if (row.bad)
        return err_set(err, RC_CORRUPT, "%s: belfry.meta is corrupt", pg_label(cluster));
    *ret_view = view;
    return RC_OK;
}

/* ---- taking and giving back */

static void bind_bits(struct pg_call *use, uint64_t bits)
{
    pg_columns(use, "i", PARTITIONS_MAX);
    for (int64_t p = 0; p < PARTITIONS_MAX; p++) {
        if (bits >> p & 1)
            pg_i64(use, p);
    }
}

static int64_t beat_of(const struct cluster_view *view, struct str start)
{
    for (size_t n = 0; n < view->node_count; n++) {
        if (str_eq(view->nodes[n].start, start))
            return view->nodes[n].seen_ms;
    }
    return 0;
}

static void bind_owners(struct pg_call *use, uint64_t bits, const struct cluster_view *view)
{
    pg_columns(use, "iti", view->partition_count);
    for (size_t p = 0; p < view->partition_count; p++) {
        if ((bits >> p & 1) == 0)
            continue;
        pg_i64(use, (int64_t)p);
        pg_text(use, view->partitions[p].owner);
        pg_i64(use, beat_of(view, view->partitions[p].owner));
    }
}

static enum rc take(struct member *member, const struct node_rec *me, uint64_t wanted,
                    const struct cluster_view *view, struct ownership *own, struct err *err)
{
    struct pg *pg = &of(member)->pg;
    PG_CLEAR(pg);
    postgres_set_owner(of(member)->store, me->start);
    TRY(pg_connect(pg, err));
    pg_begin(pg);
    struct pg_call *taken = pg_call(pg, Q_TAKE_PARTITIONS_NOW);
    pg_text(taken, me->start);
    postgres_bind_terms(taken, me);
    bind_owners(taken, wanted, view);
    struct pg_call *floors = pg_call(pg, Q_RAISE_FLOORS);
    pg_text(floors, me->start);
    bind_bits(floors, wanted);
    pg_text(pg_call(pg, Q_FORGET_TURNS), me->start);
    struct pg_call *all = pg_call(pg, Q_COUNT_PARTITIONS);
    pg_text(all, me->start);
    TRY(pg_commit(pg, err)); /* in doubt: the epochs grew and nobody knows them; take again */
    return postgres_read_taken(taken, floors, all, own, err);
}

static void bind_known(struct pg_call *use, const struct ownership *own)
{
    pg_columns(use, "ii", own->partitions);
    for (uint32_t p = 0; p < own->partitions; p++) {
        pg_i64(use, p);
        pg_u64(use, own->epochs[p]);
    }
}

/* Before this is committed no turn can be, since its mark is missing; from then on none that is
 * from before, by its epochs. In doubt, or dead in between: the next renewal finds the mark
 * missing, and it is done again, by us or whoever takes over. */
static enum rc recover(struct member *member, const struct node_rec *me, struct ownership *own,
                       struct err *err)
{
    struct postgres_store *s = of(member)->store;
    struct pg *pg = &of(member)->pg;
    PG_CLEAR(pg);
    TRY(pg_connect(pg, err));
    pg_begin(pg);
    struct pg_call *taken = pg_call(pg, Q_RETAKE_PARTITIONS);
    pg_text(taken, me->start);
    bind_known(taken, own);
    struct pg_call *floors = pg_call(pg, Q_RAISE_FLOORS);
    pg_text(floors, me->start);
    bind_bits(floors, UINT64_MAX);
    (void)pg_call(pg, Q_JUMP_SETTINGS);
    struct pg_call *newest = pg_call(pg, Q_SETTLE);
    pg_text(newest, str_c(s->writer));
    struct pg_call *all = pg_call(pg, Q_COUNT_PARTITIONS);
    pg_text(all, me->start);
    TRY(not_a_conflict(pg_commit(pg, err), err));
    memset(own->epochs, 0, sizeof own->epochs);
    TRY(postgres_read_taken(taken, floors, all, own, err));
    struct row row = pg_row(newest, 0, NULL);
    uint64_t mark = row_u64(&row);
    marks_restart(&s->marks, mark);
    return row.bad ? err_set(err, RC_CORRUPT, "%s: turns are corrupt", pg_label(newest)) : RC_OK;
}

static enum rc release(struct member *member, uint64_t partitions, struct ownership *own,
                       struct err *err)
{
    struct pg *pg = &of(member)->pg;
    PG_CLEAR(pg);
    struct pg_call *use = pg_call(pg, Q_RELEASE_PARTITIONS);
    pg_columns(use, "iii", own->partitions);
    for (uint32_t p = 0; p < own->partitions; p++) {
        if ((partitions >> p & 1) == 0 || own->epochs[p] == 0)
            continue;
        pg_i64(use, p);
        pg_u64(use, own->epochs[p]);
        pg_i64(use, own->unsure_ms[p]);
    }
    TRY(pg_run(pg, err));
    for (uint32_t p = 0; p < own->partitions; p++) {
        if (partitions >> p & 1)
            own->epochs[p] = 0;
    }
    return RC_OK;
}

static enum rc ensure(struct member *member, uint64_t partitions, struct ownership *own,
                      struct err *err)
{
    struct pg *pg = &of(member)->pg;
    PG_CLEAR(pg);
    struct ownership sure = {.partitions = own->partitions};
    for (uint32_t p = 0; p < own->partitions; p++)
        sure.epochs[p] = partitions >> p & 1 ? own->epochs[p] : 0;
    postgres_bind_owned(pg_call(pg, Q_ENSURE_PARTITIONS), &sure);
    TRY(pg_run(pg, err));
    for (uint32_t p = 0; p < own->partitions; p++) {
        if (partitions >> p & 1)
            own->unsure_ms[p] = 0;
    }
    return RC_OK;
}

static enum rc leave(struct member *member, const struct node_rec *me, struct err *err)
{
    struct pg *pg = &of(member)->pg;
    PG_CLEAR(pg);
    pg_text(pg_call(pg, Q_RELEASE_ALL), me->start);
    pg_text(pg_call(pg, Q_LEAVE_NODE), me->start);
    TRY(pg_run(pg, err));
    of(member)->has_row = false;
    return RC_OK;
}

static enum rc forget(struct member *member, const struct node_rec *nodes, size_t count,
                      struct err *err)
{
    struct pg *pg = &of(member)->pg;
    PG_CLEAR(pg);
    struct pg_call *use = pg_call(pg, Q_FORGET_NODES);
    pg_columns(use, "ti", count);
    for (size_t i = 0; i < count; i++) {
        pg_text(use, nodes[i].start);
        pg_i64(use, nodes[i].seen_ms);
    }
    pg_i64(pg_call(pg, Q_FORGET_MARKS), MARKS_KEEP_MS);
    return pg_run(pg, err);
}

static void close_member(struct member *member)
{
    pg_close(&of(member)->pg);
    free(member);
}

static const struct member_ops ops = {
    .renew = renew,
    .take = take,
    .recover = recover,
    .release = release,
    .ensure = ensure,
    .leave = leave,
    .forget = forget,
    .close = close_member,
};

enum rc postgres_member(struct store *store, struct member **ret_member, struct err *err)
{
    struct postgres_member *m = MEM_NEW(struct postgres_member);
    (void)err; /* the first call connects */
    m->member.ops = &ops;
    m->store = postgres_of(store);
    pg_init(&m->pg, &m->store->place, true);
    m->pg.wait_ms = ANSWER_MS;
    m->pg.end_ms = &m->member.until_ms;
    *ret_member = &m->member;
    return RC_OK;
}
