#include "base/mem.h"
#include "base/plant.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum { JUMP = 1 << 20 }; /* beyond whatever was lost */

struct mem_member {
    struct member member;
    struct mem_handle *h; /* borrowed */
    bool joined;          /* our row was written once */
};

static struct mem_member *member_of(struct member *member)
{
    return (struct mem_member *)(void *)member;
}

static int64_t now_ms(const struct mem_store *m)
{
    return m->clock(m->clock_arg);
}

/* ---- nodes */

static struct node_rec *find_name(const struct mem_store *m, struct str name)
{
    for (size_t i = 0; i < m->node_count; i++) {
        if (str_eq(m->nodes[i].name, name))
            return &m->nodes[i];
    }
    return NULL;
}

static const struct node_rec *find_start(const struct mem_store *m, struct str start)
{
    for (size_t i = 0; i < m->node_count; i++) {
        if (str_eq(m->nodes[i].start, start))
            return &m->nodes[i];
    }
    return NULL;
}

static void free_texts(struct node_rec *node)
{
    kept_text_free(&node->name);
    kept_text_free(&node->start);
    kept_text_free(&node->address);
    kept_text_free(&node->version);
    kept_text_free(&node->boot_id);
}

static void remove_node(struct mem_store *m, struct node_rec *node)
{
    free_texts(node);
    size_t at = (size_t)(node - m->nodes);
    for (size_t i = at + 1; i < m->node_count; i++)
        m->nodes[i - 1] = m->nodes[i];
    m->node_count--;
}

/* They stand by name. */
static struct node_rec *insert_node(struct mem_store *m, struct str name)
{
    size_t at = m->node_count;
    m->nodes = kept_rows_grow(m->nodes, m->node_count, sizeof *m->nodes);
    for (; at > 0 && str_cmp(m->nodes[at - 1].name, name) > 0; at--)
        m->nodes[at] = m->nodes[at - 1];
    m->node_count++;
    m->nodes[at] = (struct node_rec){0};
    return &m->nodes[at];
}

static void copy_texts(struct node_rec *row, const struct node_rec *from)
{
    row->name = kept_text(from->name);
    row->start = kept_text(from->start);
    row->address = kept_text(from->address);
    row->version = kept_text(from->version);
    row->boot_id = kept_text(from->boot_id);
}

void mem_copy_nodes(struct mem_store *to, const struct mem_store *from)
{
    for (size_t i = 0; i < to->node_count; i++)
        free_texts(&to->nodes[i]);
    to->node_count = 0;
    for (size_t i = 0; i < from->node_count; i++) {
        to->nodes = kept_rows_grow(to->nodes, to->node_count, sizeof *to->nodes);
        to->nodes[to->node_count] = from->nodes[i];
        copy_texts(&to->nodes[to->node_count++], &from->nodes[i]);
    }
}

static void write_node(struct mem_store *m, const struct node_rec *me)
{
    struct node_rec *row = find_name(m, me->name);
    bool same = row != NULL && str_eq(row->start, me->start);
    int64_t started_ms = same ? row->started_ms : now_ms(m);
    if (row == NULL)
        row = insert_node(m, me->name);
    else
        free_texts(row);
    *row = *me;
    copy_texts(row, me);
    row->replaces = (struct str){0};
    row->started_ms = started_ms;
    row->seen_ms = now_ms(m);
}

/* ---- partitions */

static struct str text_of(const char *text)
{
    return text == NULL ? STR("") : str_c(text);
}

/* It has no owner from now on; the former one is remembered. */
static void set_free(struct mem_store *m, struct mem_partition *p)
{
    if (p->owner == NULL)
        return;
    free(p->former);
    p->former = p->owner;
    p->owner = NULL;
    p->since_ms = m->clock == NULL ? 0 : now_ms(m);
}

bool mem_partition_is_free(const struct mem_store *m, uint32_t partition)
{
    const char *owner = m->partitions[partition].owner;
    return owner == NULL || find_start(m, str_c(owner)) == NULL;
}

void mem_partition_give(struct mem_store *m, uint32_t partition, struct str node,
                        struct ownership *own)
{
    struct mem_partition *p = &m->partitions[partition];
    set_free(m, p);
    p->owner = mem_dup(node.ptr, node.len);
    p->since_ms = m->clock == NULL ? 0 : now_ms(m);
    own->epochs[partition] = ++p->epoch;
    own->unsure_ms[partition] = p->unsure_ms;
    ownership_raise(own, p->newest_id, p->turn);
    if (p->token_floor > own->token_floor)
        own->token_floor = p->token_floor;
    mem_forget_lost(m);
}

/* A turn of somebody else is under way there: as with SKIP LOCKED, it is left alone. */
static bool is_locked(const struct mem_handle *h, uint32_t partition)
{
    if (PLANTED(share_lock_forgotten))
        return false;
    for (size_t i = 0; i < h->m->handle_count; i++) {
        const struct mem_handle *other = h->m->handles[i];
        if (other != h && other->locked >> partition & 1)
            return true;
    }
    return false;
}

/* It has not renewed since somebody found it silent. */
static bool is_as_seen(const struct mem_store *m, struct str owner, const struct cluster_view *view,
                       uint32_t partition)
{
    const struct node_rec *row = find_start(m, owner);
    if (partition >= view->partition_count || !str_eq(view->partitions[partition].owner, owner))
        return false;
    for (size_t n = 0; n < view->node_count; n++) {
        if (str_eq(view->nodes[n].start, owner))
            return view->nodes[n].seen_ms == row->seen_ms;
    }
    return false;
}

static bool may_take(const struct mem_handle *h, const struct node_rec *me, uint32_t partition,
                     const struct cluster_view *view)
{
    struct str owner = text_of(h->m->partitions[partition].owner);
    if (is_locked(h, partition) || str_eq(owner, me->start))
        return false;
    return mem_partition_is_free(h->m, partition) || str_eq(owner, me->replaces) ||
           is_as_seen(h->m, owner, view, partition);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* How long leases may be kept alive by an owner that fell silent. */
static int64_t unsure_after(const struct node_rec *owner, const struct node_rec *me)
{
    if (owner == NULL || owner->lease_ms == 0)
        return me->lease_ms + me->grace_ms + NODE_UNSAID_MS;
    return larger(owner->lease_ms, me->lease_ms) + larger(owner->grace_ms, me->grace_ms);
}

static void take_one(struct mem_store *m, uint32_t partition, const struct node_rec *me,
                     struct ownership *own)
{
    struct mem_partition *p = &m->partitions[partition];
    struct str owner = text_of(p->owner);
    if (owner.len > 0 && !str_eq(owner, me->replaces)) {
        p->unsure_ms = larger(p->unsure_ms, unsure_after(find_start(m, owner), me));
        own->deprived |= UINT64_C(1) << partition;
    }
    mem_partition_give(m, partition, me->start, own);
}

static bool owns_something(const struct mem_store *m, struct str start)
{
    for (uint32_t i = 0; i < m->partition_count; i++) {
        if (str_eq(text_of(m->partitions[i].owner), start))
            return true;
    }
    return false;
}

/* ---- the view */

static struct cluster_view copy_view(const struct mem_store *m, struct arena *arena)
{
    struct cluster_view view = {
        .now_ms = now_ms(m),
        .settings_version = m->settings_version,
        .nodes = ARENA_ARRAY(arena, struct node_rec, m->node_count),
        .node_count = m->node_count,
        .partitions = ARENA_ARRAY(arena, struct partition_rec, m->partition_count),
        .partition_count = m->partition_count,
    };
    for (size_t i = 0; i < m->node_count; i++) {
        view.nodes[i] = m->nodes[i];
        view.nodes[i].name = arena_str(arena, m->nodes[i].name);
        view.nodes[i].start = arena_str(arena, m->nodes[i].start);
        view.nodes[i].address = arena_str(arena, m->nodes[i].address);
        view.nodes[i].version = arena_str(arena, m->nodes[i].version);
        view.nodes[i].boot_id = arena_str(arena, m->nodes[i].boot_id);
    }
    for (uint32_t i = 0; i < m->partition_count; i++) {
        uint64_t id = m->partitions[i].newest_id;
        view.newest_id = id > view.newest_id ? id : view.newest_id;
        view.partitions[i] = (struct partition_rec){
            .epoch = m->partitions[i].epoch,
            .owner = arena_str(arena, text_of(m->partitions[i].owner)),
            .former = arena_str(arena, text_of(m->partitions[i].former)),
            .since_ms = m->partitions[i].since_ms,
            .unsure_ms = m->partitions[i].unsure_ms,
        };
    }
    return view;
}

/* ---- the interface */

static enum rc check_name(const struct mem_member *member, const struct node_rec *me,
                          int64_t lapsed_ms, struct err *err)
{
    const struct mem_store *m = member->h->m;
    const struct node_rec *row = find_name(m, me->name);
    if (row == NULL || str_eq(row->start, me->start))
        return RC_OK;
    if (member->joined)
        return err_set(err, RC_DEPOSED, "another server has taken the name %.*s",
                       STR_ARG(me->name));
    if (row->seen_ms == lapsed_ms || str_eq(row->start, me->replaces))
        return RC_OK;
    return err_set(err, RC_CONFLICT, "a server named %.*s is there already, at %.*s",
                   STR_ARG(me->name), STR_ARG(row->address));
}

static enum rc renew(struct member *member, const struct node_rec *me, int64_t lapsed_ms,
                     struct arena *arena, struct cluster_view *ret_view, struct err *err)
{
    struct mem_member *mm = member_of(member);
    struct mem_store *m = mm->h->m;
    pthread_mutex_lock(&m->lock);
    enum rc rc = check_name(mm, me, lapsed_ms, err);
    if (rc == RC_OK) {
        write_node(m, me);
        mm->joined = true;
    }
    *ret_view = copy_view(m, arena);
    ret_view->lost_turns = mem_lost_turns(mm->h);
    mem_follow_members(m);
    pthread_mutex_unlock(&m->lock);
    return rc;
}

static enum rc take(struct member *member, const struct node_rec *me, uint64_t wanted,
                    const struct cluster_view *view, struct ownership *own, struct err *err)
{
    struct mem_handle *h = member_of(member)->h;
    struct mem_store *m = h->m;
    (void)err;
    pthread_mutex_lock(&m->lock);
    own->partitions = m->partition_count;
    own->deprived = 0;
    for (uint32_t i = 0; i < m->partition_count; i++) {
        if (wanted >> i & 1 && may_take(h, me, i, view))
            take_one(m, i, me, own);
    }
    mem_follow_members(m);
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

static enum rc recover(struct member *member, const struct node_rec *me, struct ownership *own,
                       struct err *err)
{
    struct mem_handle *h = member_of(member)->h;
    struct mem_store *m = h->m;
    struct ownership known = *own;
    (void)err;
    pthread_mutex_lock(&m->lock);
    for (uint32_t i = 0; i < m->partition_count; i++) {
        struct mem_partition *p = &m->partitions[i];
        bool mine = str_eq(text_of(p->owner), me->start);
        own->epochs[i] = 0;
        if (!mine && p->epoch >= known.epochs[i])
            continue;
        p->epoch = (p->epoch > known.epochs[i] ? p->epoch : known.epochs[i]) + JUMP;
        p->token_floor += PLANTED(tokens_do_not_jump) ? 0 : JUMP;
        if (mine)
            mem_partition_give(m, i, me->start, own);
    }
    m->settings_version += JUMP;
    mem_set_mark(h, 0);
    mem_set_mark(h, mem_newest_kept(m, h->writer));
    mem_follow_members(m);
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

static enum rc release(struct member *member, uint64_t partitions, struct ownership *own,
                       struct err *err)
{
    struct mem_store *m = member_of(member)->h->m;
    (void)err;
    pthread_mutex_lock(&m->lock);
    for (uint32_t i = 0; i < m->partition_count; i++) {
        if ((partitions >> i & 1) == 0 || own->epochs[i] == 0)
            continue;
        if (own->epochs[i] == m->partitions[i].epoch) { /* else it is somebody else's already */
            m->partitions[i].unsure_ms = own->unsure_ms[i];
            set_free(m, &m->partitions[i]);
        }
        own->epochs[i] = 0;
    }
    mem_follow_members(m);
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

static enum rc ensure(struct member *member, uint64_t partitions, struct ownership *own,
                      struct err *err)
{
    struct mem_store *m = member_of(member)->h->m;
    (void)err;
    pthread_mutex_lock(&m->lock);
    for (uint32_t i = 0; i < m->partition_count; i++) {
        if ((partitions >> i & 1) == 0)
            continue;
        if (own->epochs[i] == m->partitions[i].epoch)
            m->partitions[i].unsure_ms = 0;
        own->unsure_ms[i] = 0;
    }
    mem_follow_members(m);
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

static enum rc leave(struct member *member, const struct node_rec *me, struct err *err)
{
    struct mem_member *mm = member_of(member);
    struct mem_store *m = mm->h->m;
    (void)err;
    pthread_mutex_lock(&m->lock);
    for (uint32_t i = 0; i < m->partition_count; i++) {
        if (str_eq(text_of(m->partitions[i].owner), me->start))
            set_free(m, &m->partitions[i]);
    }
    struct node_rec *row = find_name(m, me->name);
    if (row != NULL && str_eq(row->start, me->start))
        remove_node(m, row);
    mm->joined = false;
    mem_follow_members(m);
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

static enum rc forget(struct member *member, const struct node_rec *nodes, size_t count,
                      struct err *err)
{
    struct mem_store *m = member_of(member)->h->m;
    (void)err;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < count; i++) {
        struct node_rec *row = find_name(m, nodes[i].name);
        if (row != NULL && str_eq(row->start, nodes[i].start) && row->seen_ms == nodes[i].seen_ms &&
            !owns_something(m, row->start))
            remove_node(m, row);
    }
    mem_follow_members(m);
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

static void close_member(struct member *member)
{
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

enum rc mem_member_open(struct store *store, struct member **ret_member, struct err *err)
{
    struct mem_member *mm = MEM_NEW(struct mem_member);
    (void)err;
    *mm = (struct mem_member){.member.ops = &ops, .h = handle_of(store)};
    mem_new_writer(mm->h);
    *ret_member = &mm->member;
    return RC_OK;
}

void mem_members_free(struct mem_store *m)
{
    for (size_t i = 0; i < m->node_count; i++)
        free_texts(&m->nodes[i]);
    free(m->nodes);
    for (uint32_t i = 0; i < m->partition_count; i++) {
        free(m->partitions[i].owner);
        free(m->partitions[i].former);
    }
}
