/* mem.h - the inside of the memory store, shared by its files.
 *
 * Maps and arrays behind one mutex. It is the reference that other stores are compared with, so
 * wherever a clever way and a plain way exist, it takes the plain one: lists walk everything and
 * sort, and a commit checks the whole delta before it changes anything. */
#pragma once
#include "base/map.h"
#include "store/store_mem.h"

#include <pthread.h>
#include <stdatomic.h>

/* The attempts of one execution, tokens growing. */
struct attempt_list {
    struct attempt_rec *attempts; /* owned, as are their texts */
    size_t count;
};

/* The output of one execution, by (token, seq). */
struct chunk_list {
    struct log_chunk *chunks; /* owned, as are their bytes */
    size_t count;
};

enum { MEM_HANDLES_MAX = 8 };

struct mem_handle;

/* A claim that the turn under way took, and the one that had ended and was in its place. One that
 * has an end still to come is taken as a copy of itself: no other turn may change it meanwhile. */
struct taken {
    struct claim *claim;  /* stands in claims */
    struct claim *before; /* owned; NULL: none */
};

/* A partition, with what its next owner must know. */
struct mem_partition {
    uint64_t epoch;
    char *owner;  /* owned; start of a node; NULL: free */
    char *former; /* owned; NULL: none */
    int64_t since_ms;
    int64_t unsure_ms;  /* see struct partition_rec */
    uint64_t turn;      /* the newest of its owners */
    uint64_t newest_id; /* no id in its buckets is larger */
    uint64_t token_floor;
};

/* See marks.c. */
struct mem_kept {
    uint64_t writer;
    uint64_t turn;
};

struct mem_lost {
    uint64_t writer;
    uint64_t turn;
    uint64_t try;
    uint32_t partition; /* that it was sent under, with its epoch */
    uint64_t epoch;
};

/* The tables, which all handles share. */
struct mem_store {
    /* Held by whoever touches what follows. Turn threads are the only ones that change tables (all
     * but the logs), and several of them share one only in a test with a single thread, so they may
     * look without. */
    pthread_mutex_t lock;
    size_t handle_count;
    struct mem_handle *handles[MEM_HANDLES_MAX]; /* open ones */
    store_clock *clock;                          /* of the store, by which nodes are silent */
    void *clock_arg;
    struct mem_store *standby; /* owned; NULL: none. See standby.c */
    bool lags;                 /* and hears nothing any more */
    /* the tables */
    uint32_t partition_count;
    uint64_t writers;
    struct mem_kept *kept; /* owned */
    size_t kept_count;
    struct mem_lost *lost; /* owned */
    size_t lost_count;
    struct mem_partition partitions[PARTITIONS_MAX];
    struct node_rec *nodes; /* owned, as are their texts */
    size_t node_count;
    uint64_t settings_version;
    struct clock_rec clock_kept;
    struct map jobs;      /* id -> struct job_rec */
    struct map live;      /* id -> struct exec_rec, unfinished */
    struct map history;   /* id -> struct exec_rec, final */
    struct map attempts;  /* execution -> struct attempt_list */
    struct map workers;   /* id -> struct worker_rec */
    struct strmap queues; /* name -> struct queue_rec, owned */
    struct strmap
        breakers[PARTITIONS_MAX];       /* by the lowest partition of the server that saw the calls:
                                             * target -> struct breaker_rec, owned */
    struct map sla_events;              /* id -> struct sla_event_rec, owned */
    struct map alerts;                  /* id -> struct alert_rec, owned */
    struct map silences;                /* id -> struct silence_rec, owned */
    struct strmap teams;                /* name -> struct team_rec, owned */
    struct strmap tallies;              /* tally_name -> struct tally, owned */
    struct strmap rates;                /* key -> struct rate_rec, owned */
    struct strmap dependencies;         /* dependency_key -> struct dependency_rec, owned */
    struct strmap calendars;            /* name -> struct calendar_rec, owned */
    struct calendar_use *calendar_uses; /* owned, as are their texts */
    size_t calendar_use_count;
    struct strmap claims[CLAIM_KINDS]; /* key -> struct claim, owned; the key lives in the claim */
    struct map letters;                /* execution -> struct letter_rec, owned */
    struct map operations[PARTITIONS_MAX]; /* id -> struct operation_rec, owned */
    struct map versions;                   /* job -> struct mem_versions, owned */
    struct map mail;                       /* id -> struct inbox_rec, owned */
    uint64_t mail_numbers;                 /* the newest id of a row of mail */
    uint64_t mail_seen;                    /* … that was told; for a planted bug only */
    struct strmap waiters;                 /* both ids -> struct waiter_rec, owned */
    struct permit_rec **permits;           /* owned, in no order */
    size_t permit_count;
    struct rejected_rec **rejected; /* owned, in no order */
    size_t rejected_count;
    struct counter *counters; /* owned: by partition, kind, queue and state */
    size_t counter_count;
    struct key_rec *keys; /* owned */
    size_t key_count;
    struct map logs;        /* execution -> struct chunk_list */
    struct map checkpoints; /* execution -> struct checkpoint */
};

/* One server's end of it, with its turn. */
struct mem_handle {
    struct store store;
    struct mem_store *m; /* the last handle frees it */
    atomic_uint_least64_t commits;
    /* The turn under way: claims it took, to be given back unless it is committed, and the
     * partitions that nobody takes meanwhile. */
    struct taken *taken; /* owned */
    size_t taken_count;
    uint64_t locked; /* a bit per partition; 0: no turn has begun */
    bool severed;    /* its turn was ended from outside */
    uint64_t writer; /* the writer, since this life began, … */
    uint64_t tries;
    uint64_t mark;        /* … the newest turn that it knows as kept; 0: none, … */
    uint64_t first_mark;  /* … the first of them, … */
    struct mem_sent sent; /* … and the newest that was sent, and not answered */
};

static inline struct mem_handle *handle_of(struct store *store)
{
    return (struct mem_handle *)(void *)store;
}

static inline struct mem_store *mem_of(struct store *store)
{
    return handle_of(store)->m;
}

/* As load, admit and lists show them; text is borrowed from the record. */
static inline struct job_rec job_brief(const struct job_rec *job)
{
    struct job_rec brief = *job;
    brief.payload = brief.trail = (struct str){0};
    return brief;
}

static inline struct exec_rec exec_brief(const struct exec_rec *exec)
{
    struct exec_rec brief = *exec;
    brief.result = brief.trail = brief.payload = (struct str){0};
    return brief;
}

/* Both ids, as bytes of the record itself. */
static inline struct str dependency_key(const struct dependency_rec *rec)
{
    return str_of((const char *)rec, offsetof(struct dependency_rec, type));
}

/* store.c, load.c, commit.c: what store.h says */
enum rc mem_own(struct store *store, struct str node, struct ownership *ret_owned, struct err *err);
enum rc mem_admit(struct store *store, const struct ownership *own,
                  struct question *const *questions, size_t count, struct arena *arena,
                  struct err *err);
enum rc mem_fetch(struct store *store, uint64_t job_id, uint64_t exec_id, struct arena *arena,
                  struct str *ret_spec, struct str *ret_payload, struct err *err);
enum rc mem_commit(struct store *store, const struct ownership *own, const struct delta *delta,
                   struct err *err);
void mem_abort(struct store *store);
enum rc mem_settle(struct store *store, const struct ownership *own, uint64_t turn,
                   enum settled *ret_settled, struct err *err);
enum rc mem_load(struct store *store, const struct ownership *own, int64_t until_ms,
                 const struct load_sink *sink, struct err *err);
enum rc mem_settings(struct store *store, const struct load_sink *sink, struct err *err);
enum rc mem_check(struct store *store, struct err *err);
enum rc mem_keys(struct store *store, struct arena *arena, struct key_rec **ret_keys,
                 size_t *ret_count, struct err *err);
enum rc mem_key_put(struct store *store, const struct key_rec *key, struct err *err);
enum rc mem_key_sign_out(struct store *store, uint64_t id, struct err *err);
void mem_key_drop(struct key_rec *key);
struct store_cost mem_cost(struct store *store);

/* A turn on another handle, which is not over, has this key. */
bool mem_claim_is_taken(const struct mem_handle *h, enum claim_kind kind, struct str key);
/* Takes the key out of the claims; NULL when it is not there. */
struct claim *mem_claim_remove(struct mem_store *m, enum claim_kind kind, struct str key);
void mem_claim_put(struct mem_store *m, struct claim *take_claim);

/* For qsort over records: by dependant, then by upstream, growing. */
int dependency_by_ids(const void *a, const void *b);

/* commit.c */
enum rc mem_check_epochs(const struct mem_store *m, const struct ownership *own, struct err *err);
/* Begins the turn unless it has begun: checks the epochs and locks the partitions until it ends. */
enum rc mem_begin(struct mem_handle *h, const struct ownership *own, struct err *err);
/* Every id raises the floor of its partition. */
void mem_raise_newest(struct mem_store *m, uint64_t id);

/* forget.c: deletes an execution with its attempts and SLA events, and its job when that has ended
 * and has no other execution. */
void mem_forget_exec(struct mem_store *m, uint64_t exec_id);

/* marks.c */
uint64_t mem_newest_kept(const struct mem_store *m, uint64_t writer);
void mem_mark_kept(struct mem_store *m, uint64_t writer, uint64_t turn);
/* A server starts: from now on its turns are those of a new writer. */
void mem_new_writer(struct mem_handle *h);
void mem_set_mark(struct mem_handle *h, uint64_t turn);
/* RC_DEPOSED: a turn that this handle has kept is not there. */
enum rc mem_check_mark(const struct mem_handle *h, struct err *err);
uint64_t mem_lost_turns(const struct mem_handle *h);
void mem_mark_lost(struct mem_handle *h, uint64_t turn);
/* Those of epochs that are over. */
void mem_forget_lost(struct mem_store *m);
/* After every commit; for a planted bug only. */
void mem_forget_marks(struct mem_handle *h);

/* standby.c: the tables that follow; NULL: none */
struct mem_store *mem_standby(const struct mem_store *m);
/* Members have written something, or marks were. */
void mem_follow_members(struct mem_store *m);

/* open.c */
struct mem_store *mem_tables_new(uint32_t partitions);
void mem_tables_free(struct mem_store *m);

/* member.c */
void mem_copy_nodes(struct mem_store *to, const struct mem_store *from);
enum rc mem_member_open(struct store *store, struct member **ret_member, struct err *err);
/* It has no owner, or one without a row. */
bool mem_partition_is_free(const struct mem_store *m, uint32_t partition);
/* Makes node the owner of a partition under the next epoch, and adds it to own. */
void mem_partition_give(struct mem_store *m, uint32_t partition, struct str node,
                        struct ownership *own);
void mem_members_free(struct mem_store *m);

/* read.c: counters of those partitions, added up, in arena; text is borrowed from the tables. */
struct counter *mem_counters(const struct mem_store *m, const struct partition_set *owned,
                             struct arena *arena, size_t *ret_count);

/* inbox.c */
void mem_answer_left_mail(struct mem_store *m, const struct partition_set *owned,
                          struct arena *arena, struct question *q);
void mem_answer_inbox(struct mem_store *m, const struct partition_set *owned, struct arena *arena,
                      struct question *q);
/* A calendar that is used must be there, and one that is deleted must not be used: another server
 * may have done the other thing since this one asked. RC_CONFLICT. */
enum rc mem_calendars_fit(const struct mem_store *m, const struct delta *delta, struct err *err);
void mem_apply_calendar(struct mem_store *m, const struct calendar_change *change);
void mem_apply_calendar_use(struct mem_store *m, const struct calendar_use *use);
enum rc mem_mail_fits(const struct mem_store *m, const struct delta *delta, struct err *err);
void mem_apply_inbox(struct mem_store *m, const struct delta *delta);
enum rc mem_load_waiters(const struct mem_store *m, const struct partition_set *owned,
                         const struct load_sink *sink, struct err *err);
enum rc mem_load_permits(const struct mem_store *m, const struct partition_set *owned,
                         const struct load_sink *sink, struct err *err);
void mem_list_rejected(const struct mem_store *m, const struct page *page, struct arena *arena,
                       struct rejected_page *ret_page);
void mem_free_inbox(struct mem_store *m);

/* old.c: answers to ASK_OLD, ASK_OLD_ALERTS, ASK_OLD_TALLIES and ASK_PACE */
/* commit.c: adds to the counter of that partition, kind, queue and state. */
void mem_add_counter(struct mem_store *m, const struct counter *add);
/* Its settings, if they are to go; its counters in what is owned move to the empty name. */
void mem_forget_queue(struct mem_store *m, const struct ownership *own,
                      const struct queue_gone *gone);
void mem_answer_old(struct mem_store *m, const struct partition_set *owned, struct arena *arena,
                    struct question *q);
void mem_answer_old_alerts(struct mem_store *m, const struct partition_set *owned,
                           struct arena *arena, struct question *q);
void mem_answer_old_tallies(struct mem_store *m, const struct partition_set *owned,
                            struct arena *arena, struct question *q);
void mem_answer_pace(struct mem_store *m, struct arena *arena, struct question *q);

/* read.c, logs.c */
enum rc mem_reader_open(struct store *store, struct reader **ret_reader, struct err *err);
enum rc mem_logs_open(struct store *store, struct logs **ret_logs, struct err *err);

struct mem_store *mem_reader_store(struct reader *reader);
static inline bool mem_on_page(const struct page *page, uint64_t id)
{
    return page->before == 0 || id < page->before;
}

/* reports.c */
enum rc mem_read_tally(struct reader *reader, enum tally_scope scope, const struct str *keys,
                       size_t count, int64_t from_hour, int64_t until_hour,
                       struct tally_sum *ret_sums, struct err *err);
enum rc mem_read_tallies(struct reader *reader, enum tally_scope scope, int64_t from_hour,
                         int64_t until_hour, tally_sink *sink, void *arg, struct err *err);
enum rc mem_read_sla_since(struct reader *reader, int64_t *ret_ms, struct err *err);
enum rc mem_read_counters(struct reader *reader, struct arena *arena, struct counter **ret_counters,
                          size_t *ret_count, struct err *err);
enum rc mem_list_sla_events(struct reader *reader, uint64_t job_id, uint64_t exec_id,
                            const struct page *page, struct arena *arena, struct sla_page *ret_page,
                            struct err *err);
enum rc mem_read_rejected(struct reader *reader, const struct page *page, struct arena *arena,
                          struct rejected_page *ret_page, struct err *err);
enum rc mem_read_about(struct reader *reader, struct arena *arena, struct store_about *ret_about,
                       struct err *err);

/* versions.c: definitions of jobs that were edited */
void mem_keep_version(struct mem_store *m, const struct version_change *change);
void mem_forget_versions(struct mem_store *m, uint64_t job_id);
void mem_free_versions(struct mem_store *m);
enum rc mem_read_versions(struct reader *reader, uint64_t job_id, uint32_t newest, size_t max,
                          struct arena *arena, struct version_rec **ret_versions, size_t *ret_count,
                          struct err *err);

/* operations.c: operations on many */
/* By id and partition; borrowed. */
const struct operation_rec **mem_operations(const struct mem_store *m, struct arena *arena,
                                            size_t *ret_count);
void mem_answer_live(const struct mem_store *m, const struct partition_set *owned,
                     struct arena *arena, struct question *q);
void mem_answer_operations(const struct mem_store *m, struct arena *arena, struct question *q);
enum rc mem_read_operations(struct reader *reader, uint64_t id, struct arena *arena,
                            struct operation_rec **ret_parts, size_t *ret_count, struct err *err);
enum rc mem_read_live(struct reader *reader, uint64_t after, size_t max, bool documents,
                      live_sink *sink, void *arg, uint64_t *ret_next, struct err *err);

/* letters.c: dead letters, for readers */
enum rc mem_find_named(struct reader *reader, struct str name, uint64_t *ret_id, struct err *err);
enum rc mem_find_ids(struct reader *reader, enum id_kind kind, const struct id_part *part,
                     size_t max, struct arena *arena, uint64_t **ret_ids, size_t *ret_count,
                     struct err *err);
enum rc mem_read_letter(struct reader *reader, uint64_t exec_id, struct arena *arena,
                        struct letter_rec *ret_letter, struct err *err);
enum rc mem_read_letters(struct reader *reader, const struct letter_filter *filter,
                         struct letter_place before, size_t scan_max, letter_sink *sink, void *arg,
                         struct letter_place *ret_next, struct err *err);
enum rc mem_group_letters(struct reader *reader, const struct letter_filter *filter,
                          size_t scan_max, size_t max, struct arena *arena,
                          struct letter_groups *ret_groups, struct err *err);

/* Dead letters in their order, in arena; text is borrowed from the tables. */
const struct letter_rec **mem_letters(const struct mem_store *m, struct arena *arena,
                                      size_t *ret_count);

/* For qsort over pointers to executions: by id, growing. */
int exec_by_id(const void *a, const void *b);

/* facts.c: see struct reader_ops. */
enum rc mem_read_heads(struct reader *reader, const uint64_t *job_ids, size_t count,
                       struct arena *arena, struct job_rec *ret_jobs, struct err *err);
enum rc mem_read_standings(struct reader *reader, const uint64_t *job_ids, size_t count,
                           struct arena *arena, struct job_rec *ret_jobs, struct err *err);
enum rc mem_read_newest_attempts(struct reader *reader, const uint64_t *exec_ids, size_t count,
                                 struct arena *arena, struct attempt_rec *ret_attempts,
                                 struct err *err);
