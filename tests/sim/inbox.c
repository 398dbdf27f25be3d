#include "inbox.h"
#include "choice.h"
#include "client_wishes.h"
#include "coverage.h"
#include "engine/core/model.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>

enum {
    WATCH_MS = 250,
    LATE_MS = 10000,    /* within this, in fair weather, a row that can be dealt with is, … */
    PAGE_MS = 2000,     /* … and within this for every page that waits */
    CALM_MS = 20000,    /* after the faults: servers are back, and have loaded */
    SEEN_MAX_MS = 3000, /* between the number of a row and its commit */
    ROWS_MAX = 80,      /* that wait; then people wait as well */
    STRANGE_MAX = 6,    /* rows of unknown kinds */
    PADDING_MAX = 3000, /* bytes */
    SPIN_MS = 1000,     /* within this no server takes … */
    SPIN_TURNS = 300,   /* … so many turns for nothing */
    FUTURE_KIND = INBOX_KINDS + 7,
};

/* ---- writing */

static void put(struct world *w, void *what, uint64_t no)
{
    struct sim_row *row = what;
    (void)no;
    store_mem_mail(w->doors[0].inner, &row->rec);
    row->there = true;
    SAY(w, "sql", "row %" PRIu64 " of kind %d is there", row->rec.id, (int)row->rec.kind);
}

/* Some are committed long after they got their number. */
static void send(struct world *w, struct sim_row *row)
{
    int64_t later_ms = pick(w, 4) > 0 ? 0 : pick_ms(w, 1, SEEN_MAX_MS);
    row->rec.id = store_mem_mail_number(w->doors[0].inner);
    row->rec.bucket = (uint32_t)pick(w, ID_BUCKETS);
    row->rec.sent_ms = world_now(w).wall_ms;
    *VEC_PUSH(&w->arena, &w->inbox.rows) = row;
    agenda_add(w, w->boot_ms + later_ms, put, row, 0);
}

static struct str padding(struct world *w)
{
    size_t len = pick(w, 4) == 0 ? pick(w, PADDING_MAX) : 0;
    char *text = arena_alloc(w->model.arena, len + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = ' ';
    return str_of(text, len);
}

static void submit(struct world *w)
{
    struct sim_row *row = ARENA_NEW(&w->arena, struct sim_row);
    struct str document = client_document(w, &row->wish);
    const struct wish *wish = &w->model.wishes.items[row->wish];
    row->nonsense = pick(w, 12) == 0;
    row->rec.kind = INBOX_SUBMIT;
    row->rec.actor = wish->owner;
    row->rec.name = wish->rules.team;
    row->rec.body = arena_printf(w->model.arena, "{%.*s%s%.*s", STR_ARG(padding(w)),
                                 row->nonsense ? "," : "", STR_ARG(str_from(document, 1)));
    row->may_be_refused = row->nonsense || wish->name.len > 0 || wish->rules.calendar_count > 0;
    SAY(w, "sql", "submits j%zu", row->wish);
    send(w, row);
}

static void cancel(struct world *w)
{
    struct sim_row *row = ARENA_NEW(&w->arena, struct sim_row);
    uint64_t id = some_job(w);
    const struct model_job *job = model_job(&w->model, id);
    row->rec.kind = INBOX_CANCEL;
    row->rec.actor = STR("sql");
    row->rec.about = id;
    row->rec.name = job == NULL ? STR("") : job->rec.team;
    row->may_be_refused = true; /* when it is over, or is in another team by then */
    SAY(w, "sql", "cancels %s", job_label(w, id));
    send(w, row);
}

static void write_strange(struct world *w)
{
    struct sim_row *row = ARENA_NEW(&w->arena, struct sim_row);
    if (++w->inbox.strange > STRANGE_MAX)
        return;
    row->rec.kind = (enum inbox_kind)FUTURE_KIND;
    row->rec.body = STR("what nobody here can read");
    send(w, row);
}

static void people(struct world *w, void *what, uint64_t no)
{
    if (w->healing)
        return;
    uint64_t dice = pick(w, 20);
    uint64_t count = pick(w, 6) == 0 ? 2 + pick(w, 8) : 1; /* now and then many at once */
    for (uint64_t i = 0; i < count && store_mem_mail_count(w->doors[0].inner) < ROWS_MAX; i++) {
        if (dice == 0)
            write_strange(w);
        else if (dice < 5)
            cancel(w);
        else
            submit(w);
    }
    agenda_add(w, w->boot_ms + pick_ms(w, 1, w->scene.sql_gap_ms), people, what, no);
}

/* ---- what becomes of it */

static struct sim_row *find(const struct world *w, uint64_t id)
{
    for (size_t i = 0; i < w->inbox.rows.len; i++) {
        if (w->inbox.rows.items[i]->rec.id == id)
            return w->inbox.rows.items[i];
    }
    return NULL;
}

/* Why the row is rejected; NULL: it is not. */
static const struct str *find_reason(const struct delta *delta, uint64_t id)
{
    for (size_t i = 0; i < delta->rejected_count; i++) {
        if (delta->rejected[i].inbox_id == id)
            return &delta->rejected[i].reason;
    }
    return NULL;
}

/* On days of few queues a row may name one too many; queues_check_limited looks at what clients are
 * refused. */
static bool may_be_rejected(const struct sim_row *row, struct str reason)
{
    return row->may_be_refused || str_starts(reason, STR("there are as many queues with work"));
}

static void check_gone(struct world *w, struct sim_row *row, const struct delta *delta)
{
    const struct str *rejected = find_reason(delta, row->rec.id);
    row->gone = true;
    PROMISE(w, row->rec.kind == INBOX_SUBMIT || row->rec.kind == INBOX_CANCEL,
            "row %" PRIu64 " of the inbox is gone, and nobody here knows what it says",
            row->rec.id);
    if (rejected != NULL)
        saw(SAW_SQL_REJECTED);
    PROMISE(w, rejected == NULL || may_be_rejected(row, *rejected),
            "j%zu came by SQL and was rejected for no reason", row->wish);
    PROMISE(w, !row->nonsense || rejected != NULL, "nonsense came by SQL, and was not rejected");
    if (row->rec.kind == INBOX_SUBMIT)
        PROMISE(w, (rejected != NULL) != (w->model.wishes.items[row->wish].job_id != 0),
                "j%zu came by SQL and is gone, and nothing came of it", row->wish);
}

void inbox_keep(struct world *w, const struct delta *delta)
{
    for (size_t i = 0; i < delta->mail_read_count; i++) {
        struct sim_row *row = find(w, delta->mail_read[i]);
        if (row != NULL)
            check_gone(w, row, delta);
    }
}

/* ---- that nothing starves */

/* Who decides about a bucket now, and can read what is there. */
static const struct sim_server *reader_of(const struct world *w, uint32_t bucket)
{
    uint32_t partition = partition_of_bucket(CLUSTER_PARTITIONS, bucket);
    for (size_t i = 0; i < w->server_count; i++) {
        const struct sim_server *s = &w->servers[i];
        if (s->up && s->member.loaded && cluster_may_decide(s) && !s->in_turn &&
            s->turn.owned.epochs[partition] == w->model.epochs[partition])
            return s;
    }
    return NULL;
}

static bool has_lane(const struct engine *e, const struct rules *rules)
{
    for (size_t i = 0; i < e->ready.lanes.cap; i++) {
        const struct lane *lane = e->ready.lanes.slots[i].value;
        if (lane != NULL && str_eq(lane->queue, rules->queue) &&
            str_eq(lane->handler, rules->handler))
            return true;
    }
    return e->ready.lanes.len < e->options.lanes_max;
}

/* Something can be done about it now. */
static bool is_readable(const struct world *w, const struct inbox_rec *rec)
{
    const struct sim_server *s = reader_of(w, rec->bucket);
    if (s == NULL || !inbox_is_known(rec->kind))
        return false;
    const struct sim_row *row = find(w, rec->id);
    const struct engine *e = s->turn.engine;
    if (rec->kind != INBOX_SUBMIT || row == NULL || row->nonsense)
        return true;
    bool room =
        e->execs.len < e->options.live_max && has_lane(e, &w->model.wishes.items[row->wish].rules);
    if (!room)
        saw(SAW_SQL_BUSY);
    return room;
}

static struct seen_row *seen(struct world *w, uint64_t id)
{
    struct seen_row *row = map_get(&w->inbox.seen, id);
    if (row == NULL) {
        row = ARENA_NEW(&w->arena, struct seen_row);
        row->since_ms = w->boot_ms;
        map_put(&w->inbox.seen, id, row);
    }
    return row;
}

static bool is_calm(const struct world *w)
{
    if (w->healing)
        return w->boot_ms > w->inbox.healed_ms + CALM_MS;
    return w->scene.storms_ms > 0 && w->boot_ms > w->storm.fair_ms + LATE_MS;
}

/* Servers' own mail is read first, page after page. Of what waits for room one page is tried at a time, since most of
 * it has to wait on. */
static int64_t late_ms(const struct world *w, const struct inbox_rec *rec)
{
    size_t rows = store_mem_mail_count(w->doors[0].inner);
    size_t page = w->scene.engine.inbox_page_bytes / (PADDING_MAX / 2);
    if (page > w->scene.engine.inbox_page)
        page = w->scene.engine.inbox_page;
    return rec->kind != INBOX_SUBMIT ? LATE_MS : LATE_MS + (int64_t)(rows / (page + 1)) * PAGE_MS;
}

static void watch_row(void *arg, const struct inbox_rec *rec)
{
    struct world *w = arg;
    struct seen_row *row = seen(w, rec->id);
    if (!is_readable(w, rec) || !is_calm(w))
        row->since_ms = w->boot_ms;
    PROMISE(w, w->boot_ms - row->since_ms <= late_ms(w, rec),
            "row %" PRIu64 " of the inbox, a %.*s, waits for %" PRId64
            " ms, and its server has time for it",
            rec->id, STR_ARG(inbox_kind_name(rec->kind)), w->boot_ms - row->since_ms);
}

static void watch(struct world *w, void *what, uint64_t no)
{
    if (w->healing && w->inbox.healed_ms == 0)
        w->inbox.healed_ms = w->boot_ms;
    store_mem_each_mail(w->doors[0].inner, watch_row, w);
    agenda_add(w, w->boot_ms + WATCH_MS, watch, what, no);
}

bool inbox_is_quiet(const struct world *w)
{
    for (size_t i = 0; i < w->inbox.rows.len; i++) {
        const struct sim_row *row = w->inbox.rows.items[i];
        if (!row->gone && (is_readable(w, &row->rec) || reader_of(w, row->rec.bucket) == NULL))
            return false;
    }
    return true;
}

static void is_back(void *arg, const struct inbox_rec *rec)
{
    struct sim_row *row = find(arg, rec->id);
    if (row != NULL)
        row->gone = false;
}

void inbox_go_back(struct world *w)
{
    for (size_t i = 0; i < w->inbox.rows.len; i++)
        w->inbox.rows.items[i]->gone = w->inbox.rows.items[i]->there;
    store_mem_each_mail(w->doors[0].inner, is_back, w);
}

void inbox_turn(struct sim_server *s, bool idle)
{
    struct world *w = s->world;
    if (w->boot_ms - s->idle_since_ms > SPIN_MS) {
        s->idle_since_ms = w->boot_ms;
        s->idle_turns = 0;
    }
    s->idle_turns += idle;
    PROMISE(w, s->idle_turns <= SPIN_TURNS, "%s takes turn after turn, and nothing comes of it",
            s->name);
}

void inbox_begin(struct world *w)
{
    if (!w->cluster)
        return;
    watch(w, NULL, 0);
    if (w->scene.sql_gap_ms > 0)
        agenda_add(w, w->boot_ms, people, NULL, 0);
}
