/* postgres.h - the inside of the PostgreSQL store, shared by its files.
 *
 *   store.c   opening, closing, API keys     admit.c   what a turn asks (claims.c: keys)
 *   turn.c    ownership and transactions     commit.c  what a turn keeps (commit_exec.c)
 *   load.c    everything unfinished          read.c, list.c, logs.c   the other handles
 *   member.c  other servers                  letters.c what is dead, and what is too old
 *   row.c     what is in a cell              pg.c, call.c   the connection and its statements
 *   marks.c   which turns were kept
 *
 * The writer's connection carries the turn's transaction from its first admit to its commit. */
#pragma once
#include "base/vec.h"
#include "store/postgres/marks.h"
#include "store/postgres/pg.h"
#include "store/postgres/trails.h"
#include "store/store.h"

#include <stdatomic.h>

/* A moment up to which the inbox was read: see inbox.c. */
struct inbox_moment {
    char snapshot[4096]; /* every transaction that was over in it was read */
    uint64_t xid;        /* our own transaction of then */
};

/* Where the reading of one sort of mail has come to. */
struct inbox_place {
    struct inbox_moment base;  /* where the round under way began, or the last one */
    struct inbox_moment begun; /* the moment of its first page: where the next one begins */
    bool is_begun;             /* that one is known */
    uint64_t found;            /* in the round under way, when all of it was last looked for, … */
    uint64_t last_id;          /* … and the highest id of those */
    uint64_t connects;         /* which connection it was, … */
    uint64_t server; /* … and which server answered: behind a pooler neither tells of the other */
    uint64_t epochs[PARTITIONS_MAX];
};

/* A question about the inbox that is on its way. */
struct inbox_asked {
    struct pg_call *now; /* NULL: a page that goes on */
    struct pg_call *rows;
    struct inbox_place *round; /* whose rows say how many there are; NULL: they do not */
};

struct taken_request {
    struct str key;
    int64_t until_ms;
};

struct postgres_store {
    struct store store;
    struct pg_place place;
    struct pg pg;
    int64_t lease_ms; /* how long another server may be silent before own takes what it has */
    char writer[33];  /* our name in table turn: no other writer has it */
    char *owner;      /* owned: the start that we have partitions under; NULL: none yet */
    atomic_uint_least64_t commits;
    atomic_uint_least64_t commit_us;
    atomic_uint_least64_t round_trips; /* of all connections */

    uint64_t newest_id; /* cumulative, for table turn: the newest id of anything committed so far */
    int64_t drift_ms;
    uint64_t tries;           /* commits that were tried; names each */
    bool in_doubt;            /* the outcome of the last one is not known */
    uint64_t doubt_turn;      /* of the last one tried, … */
    uint32_t doubt_partition; /* … with the lowest partition that it was sent under, */
    uint64_t doubt_epoch;     /* and that one's epoch */
    uint64_t folded_turn; /* what was added before it is folded already, in what was ours then: */
    struct ownership folded_own;

    struct marks marks;
    struct mark_asked asked; /* of the turn under way, when it began */

    unsigned wary; /* rounds to come in which no key is hoped to be free: one was known lately */

    struct inbox_place inbox[2]; /* submissions are the second */

    struct trails trails;

    /* The turn under way. */
    bool in_turn;
    size_t taken_claims;
    uint64_t taken_id; /* the newest among the holders of claims it took */
    struct arena taken_arena;
    VEC(struct taken_request) taken; /* requests that will have to be swept one day */
};

static inline struct postgres_store *postgres_of(struct store *store)
{
    return (struct postgres_store *)(void *)store;
}

/* turn.c */
enum rc postgres_own(struct store *store, struct str node, struct ownership *ret_owned,
                     struct err *err);
enum rc postgres_settle(struct store *store, const struct ownership *own, uint64_t turn,
                        enum settled *ret_settled, struct err *err);
/* Queues the beginning of the turn under own's epochs, unless it has begun. *ret_fence: the use
 * that tells whether we still own all of them; NULL when the turn had begun. */
enum rc postgres_turn_begin(struct postgres_store *s, const struct ownership *own,
                            struct pg_call **ret_fence, struct err *err);
enum rc postgres_turn_check(struct postgres_store *s, const struct ownership *own,
                            const struct pg_call *fence, struct err *err);
void postgres_turn_abort(struct postgres_store *s); /* harmless when there is none */
enum rc postgres_deposed(struct err *err);
/* Whose partitions these are, from the first own or take on; it stays the same with one server. */
void postgres_set_owner(struct postgres_store *s, struct str start);
struct str postgres_owner(const struct postgres_store *s);
/* Binds the ids and epochs of what is owned, as two columns; before that, plain parameters. */
void postgres_bind_owned(struct pg_call *use, const struct ownership *own);
/* Four parameters of take_partitions: what we replace, and how long leases live with us. */
void postgres_bind_terms(struct pg_call *use, const struct node_rec *me);
size_t postgres_owned_count(const struct ownership *own);
uint32_t postgres_lowest(const struct ownership *own); /* 0 when nothing is owned */
/* Behind take_partitions: reads what was taken into *own, and raise_floors' answer. */
enum rc postgres_read_taken(const struct pg_call *taken, const struct pg_call *floors,
                            const struct pg_call *all, struct ownership *own, struct err *err);
/* Binds how many partitions there are and the bits of those owned. */
void postgres_bind_set(struct pg_call *use, const struct ownership *own);

/* admit.c, commit.c, load.c */
enum rc postgres_admit(struct store *store, const struct ownership *own,
                       struct question *const *questions, size_t count, struct arena *arena,
                       struct err *err);
enum rc postgres_fetch(struct store *store, uint64_t job_id, uint64_t exec_id, struct arena *arena,
                       struct str *ret_spec, struct str *ret_payload, struct err *err);
enum rc postgres_commit(struct store *store, const struct ownership *own, const struct delta *delta,
                        struct err *err);
/* Queues all changes of executions, and attempts. */
void postgres_keep_execs(struct pg *pg, const struct trails *trails, const struct delta *delta);
enum rc postgres_settings(struct store *store, const struct load_sink *sink, struct err *err);
enum rc postgres_load(struct store *store, const struct ownership *own, int64_t until_ms,
                      const struct load_sink *sink, struct err *err);

/* row_live.c: rows of load_live and load_jobs, as store/sql/row.h reads those of the views. */
bool postgres_row_live(struct row *row, struct exec_rec *exec);
bool postgres_row_live_job(struct row *row, struct job_rec *job);

/* load_live.c: the executions of a load, and their jobs. */
enum rc postgres_load_live(struct pg *pg, const struct ownership *own, int64_t until_ms,
                           const struct load_sink *sink, struct err *err);

/* claims.c: taking keys, all of a round at once. Queued, read when they were run; and then those
 * whose holder's time was over are tried again. */
struct round;
enum { CLAIM_TABLES = 2 };

struct claims_asked {
    struct round *rounds[CLAIM_TABLES];
    struct pg_call *inserts[CLAIM_TABLES]; /* NULL: no command asked for such a key */
};

/* hopeful: where they are many it is cheaper, and the run fails with RC_CONFLICT when a request was
 * known. */
void postgres_ask_claims(struct postgres_store *s, struct question *const *questions, size_t count,
                         bool hopeful, struct arena *arena, struct claims_asked *ret_asked);
void postgres_read_claims(struct postgres_store *s, struct claims_asked *asked);
enum rc postgres_end_claims(struct postgres_store *s, struct claims_asked *asked,
                            struct arena *arena, struct err *err);
void postgres_keep_claims(struct postgres_store *s, const struct delta *delta);

/* letters.c: what commit, admit, load and readers do with dead letters, and with what is too old */
void postgres_keep_letters(struct pg *pg, const struct delta *delta);
void postgres_forget(struct pg *pg, const struct delta *delta);
enum rc postgres_find_letters(struct postgres_store *s, const struct ownership *own,
                              struct arena *arena, struct question *q, struct err *err);
enum rc postgres_find_old(struct postgres_store *s, const struct ownership *own,
                          struct arena *arena, struct question *q, struct err *err);
enum rc postgres_find_old_alerts(struct postgres_store *s, const struct ownership *own,
                                 struct arena *arena, struct question *q, struct err *err);
enum rc postgres_find_old_tallies(struct postgres_store *s, const struct ownership *own,
                                  struct arena *arena, struct question *q, struct err *err);
enum rc postgres_read_letter(struct reader *reader, uint64_t exec_id, struct arena *arena,
                             struct letter_rec *ret_letter, struct err *err);
enum rc postgres_read_letters(struct reader *reader, const struct letter_filter *filter,
                              struct letter_place before, size_t scan_max, letter_sink *sink,
                              void *arg, struct letter_place *ret_next, struct err *err);
enum rc postgres_group_letters(struct reader *reader, const struct letter_filter *filter,
                               size_t scan_max, size_t max, struct arena *arena,
                               struct letter_groups *ret_groups, struct err *err);

/* the same: what admit and readers do with operations on many */
/* As postgres_bind_set, of the partitions that the question is about. */
void postgres_bind_asked(struct pg_call *use, const struct ownership *own,
                         const struct question *q);
enum rc postgres_find_live_jobs(struct postgres_store *s, const struct ownership *own,
                                struct arena *arena, struct question *q, struct err *err);
enum rc postgres_find_operations(struct postgres_store *s, struct arena *arena, struct question *q,
                                 struct err *err);
enum rc postgres_read_operations(struct reader *reader, uint64_t id, struct arena *arena,
                                 struct operation_rec **ret_parts, size_t *ret_count,
                                 struct err *err);
enum rc postgres_read_live(struct reader *reader, uint64_t after, size_t max, bool documents,
                           live_sink *sink, void *arg, uint64_t *ret_next, struct err *err);

/* inbox.c */
struct inbox_asked postgres_ask_inbox(struct postgres_store *s, const struct ownership *own,
                                      const struct question *q);
void postgres_read_inbox(struct postgres_store *s, const struct inbox_asked *asked,
                         struct arena *arena, struct question *q);
void postgres_keep_mail(struct pg *pg, const struct delta *delta);
/* The next reading begins with everything. */
void postgres_forget_places(struct postgres_store *s);
enum rc postgres_list_rejected(struct reader *reader, const struct page *page, struct arena *arena,
                               struct rejected_page *ret_page, struct err *err);

/* read.c, list.c */
struct postgres_reader {
    struct reader reader;
    struct pg pg;
};

static inline struct pg *reader_pg(struct reader *reader)
{
    return &((struct postgres_reader *)(void *)reader)->pg;
}

enum rc postgres_reader(struct store *store, struct reader **ret_reader, struct err *err);
enum rc postgres_list_jobs(struct reader *reader, const struct filter *filter,
                           const struct page *page, struct arena *arena, struct job_page *ret_page,
                           struct err *err);
enum rc postgres_list_sorted(struct reader *reader, enum job_sort sort,
                             const struct sort_place *after, size_t max, struct arena *arena,
                             struct sorted_page *ret_page, struct err *err);
enum rc postgres_read_ran(struct reader *reader, const struct ran_query *q, ran_sink *sink,
                          void *arg, bool *ret_whole, struct err *err);
enum rc postgres_list_execs(struct reader *reader, const struct filter *filter,
                            const struct page *page, struct arena *arena,
                            struct exec_page *ret_page, struct err *err);

enum rc postgres_list_alerts(struct reader *reader, enum alert_state state, const struct page *page,
                             struct arena *arena, struct alert_page *ret_page, struct err *err);
enum rc postgres_list_sla_events(struct reader *reader, uint64_t job_id, uint64_t exec_id,
                                 const struct page *page, struct arena *arena,
                                 struct sla_page *ret_page, struct err *err);

/* logs.c, member.c */
enum rc postgres_logs(struct store *store, struct logs **ret_logs, struct err *err);
enum rc postgres_member(struct store *store, struct member **ret_member, struct err *err);
