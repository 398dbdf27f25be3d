/* store.h - the memory of belfry: what a store promises.
 *
 * A store remembers; it never decides. It speaks of ownership and deltas, not of rows, so that
 * each implementation may do it its own best way. README.md beside this file tells the promises in
 * full; tests/contract holds every implementation to them.
 *
 * Four kinds of handle, each used by one thread at a time:
 *   struct store   the writing side, for the turn thread
 *   struct reader  the reading side, one per query thread; sees committed turns only
 *   struct logs    output of commands and their checkpoints, apart from everything else, for the
 *                  log thread and readers
 *   struct member  who else is there and who owns what, for the thread that keeps us a member
 */
#pragma once
#include "base/arena.h"
#include "base/id.h"
#include "job/checkpoint.h"
#include "job/job_fields.h"
#include "job/lease.h"
#include "job/log.h"
#include "job/partition.h"
#include "job/record/alert_filter.h"
#include "job/record/filter.h"
#include "job/record/question.h"
#include "job/record/ran.h"
#include "store/sorted.h"

#include <stdatomic.h>

/* The part that a server owns: a set of the store's partitions (job/partition.h). SQLite has one.
 * An epoch grows with every owner; 0 for what is not ours. */
struct ownership {
    uint32_t partitions; /* of the whole store */
    uint64_t epochs[PARTITIONS_MAX];
    uint64_t id_floor;   /* no id of these partitions is larger */
    uint64_t turn_floor; /* the newest turn that was committed by their owners */
    /* Leases that a partition comes with may be alive at workers although nobody names them: for
     * unsure_ms by the partition's row, counted from its next load, and until unsure_until_ms by
     * this process' boot clock; 0: for a plain term. Its former owner was last known to be alive at
     * alive_ms, by the same clock; 0: until it was loaded. */
    int64_t unsure_ms[PARTITIONS_MAX];
    int64_t unsure_until_ms[PARTITIONS_MAX];
    int64_t alive_ms[PARTITIONS_MAX];
    uint64_t deprived; /* bits: taken by the newest take from owners that had fallen silent */
    uint64_t
        token_floor; /* tokens of leases must be larger; it jumps when the store has lost turns */
};

struct partition_set ownership_set(const struct ownership *own);
/* Raises the floors to these, unless they are higher. */
void ownership_raise(struct ownership *own, uint64_t id_floor, uint64_t turn_floor);

enum settled {
    SETTLED_KEPT, /* the commit took place, whole */
    SETTLED_LOST, /* nothing of it did */
};

/* Receives what load finds. Any of them may be NULL. A sink that returns an error stops the load.
 * damaged is told of unfinished executions that are left out, since their row or their job's makes
 * no sense. */
struct load_sink {
    enum rc (*job)(void *arg, const struct job_rec *job, struct err *err);
    enum rc (*exec)(void *arg, const struct exec_rec *exec, struct err *err);
    enum rc (*worker)(void *arg, const struct worker_rec *worker, struct err *err);
    enum rc (*cordon)(void *arg, const struct worker_rec *worker, struct err *err);
    enum rc (*counter)(void *arg, const struct counter *counter, struct err *err);
    void (*damaged)(void *arg, uint64_t exec_id);
    enum rc (*queue)(void *arg, const struct queue_rec *queue, struct err *err);
    enum rc (*team)(void *arg, const struct team_rec *team, struct err *err);
    enum rc (*rate)(void *arg, const struct rate_rec *rate, struct err *err);
    enum rc (*breaker)(void *arg, const struct breaker_rec *breaker, struct err *err);
    enum rc (*dependency)(void *arg, const struct dependency_rec *dependency, struct err *err);
    enum rc (*operation)(void *arg, const struct operation_rec *operation, struct err *err);
    enum rc (*calendar)(void *arg, const struct calendar_rec *calendar, struct err *err);
    enum rc (*silence)(void *arg, const struct silence_rec *silence, struct err *err);
    enum rc (*waiter)(void *arg, const struct waiter_rec *waiter, struct err *err);
    enum rc (*permit)(void *arg, const struct permit_rec *permit, struct err *err);
    enum rc (*clock)(void *arg, const struct clock_rec *clock, struct err *err);
    void *arg;
};

struct key_rec {
    uint64_t id;
    struct str name;
    struct str role;
    struct str hash; /* hex; the key itself is nowhere */
    int64_t created_ms;
    uint64_t sessions; /* grows when all browsers that signed in by it are signed out */
};

struct store;
struct reader;
struct logs;
struct member;

struct store_ops {
    /* Takes all partitions that are free (that nobody has, or nobody who has a row) for node (a
     * name that no other server start has), raising their epochs. A turn that was under way on this
     * handle is forgotten. Where there are other servers, a member takes and gives back from then
     * on. */
    enum rc (*own)(struct store *, struct str node, struct ownership *ret_owned, struct err *);
    /* Begins the turn's transaction under the owner's epoch, takes claims and answers all
     * questions, in arena (jobs without payload and trail, executions without result and trail).
     * May be called again in one turn for follow-up questions. RC_DEPOSED: another server took a
     * partition since. After any failure the transaction is gone.
     *
     * ASK_INBOX tells what is there and was not deleted; a store that others write to must not look
     * at what it has seen to be gone again and again, so it remembers where the rounds of each sort
     * began. But a row may become visible after one with a higher id, days later: that place comes
     * with the gaps that were open then. It moves on only when a round begins with INBOX_ON, and is
     * forgotten when partitions are taken. Rows that make no sense are left out, as everywhere. */
    enum rc (*admit)(struct store *, const struct ownership *, struct question *const *questions,
                     size_t count, struct arena *, struct err *);
    /* spec and payload of a job, inside the turn's transaction or outside of any; with an exec_id
     * the payload that this unfinished execution has of its own. RC_NOT_FOUND. */
    enum rc (*fetch)(struct store *, uint64_t job_id, uint64_t exec_id, struct arena *,
                     struct str *ret_spec, struct str *ret_payload, struct err *);
    /* Keeps the whole delta and the claims taken by admit, or nothing, and ends the transaction
     * (begins one first when admit was not called). Durable when it returns RC_OK. RC_FULL,
     * RC_BUSY, RC_IO, RC_DEPOSED: nothing was kept. RC_CONFLICT: neither, since the delta does not
     * fit; it adds what exists or changes what does not. RC_UNKNOWN: settle says what became of it.
     *
     * An update of a job changes version, state, priority, finished_ms and last_exec; one that is
     * redefined also queue, tags, changed_ms, spec and payload. One of an execution changes all but
     * what it was born with (job, queue, priority, retry_of, slot, created), which every change
     * repeats; one that is moved also queue, priority, slot and nominal time. A step is appended to
     * the trail. An attempt that is told again takes the place of the first. A turn that took no
     * claim and changes nothing is not written at all, and its number is not remembered. */
    enum rc (*commit)(struct store *, const struct ownership *, const struct delta *, struct err *);
    /* Forgets what admit did in this turn. Harmless when there is nothing. */
    void (*abort)(struct store *);
    /* After RC_UNKNOWN: whether delta->turn was kept. The answer is final: what is called lost here
     * cannot come back with a restart. RC_DEPOSED: another owner came since, and nobody can say.
     * It is a commit itself, and so also the way to find out whether the store takes commits. */
    enum rc (*settle)(struct store *, const struct ownership *, uint64_t turn,
                      enum settled *ret_settled, struct err *);
    /* Of what is owned: hands over the clock (when something was kept about it), counters, queues,
     * teams, rates, operations, workers, calendars, silences, and every unfinished execution whose
     * due_ms is at most until_ms (or that waits for no moment, or for another attempt of a job
     * with a schedule, or is held by a calendar), by id, each right behind its job (which comes as
     * often as it has executions), as brief as admit gives them; then the dependencies that wait.
     * Text in the records is valid during the call of the sink only. A row that does not parse is
     * reported through log_warn and left out. Permits come before the executions, by (key,
     * exec_id), and waiters behind the dependencies, by (upstream, exec_id). The inbox is not
     * loaded: it is asked for. */
    enum rc (*load)(struct store *, const struct ownership *, int64_t until_ms,
                    const struct load_sink *, struct err *);
    /* Whether commits still go where a next start will look for them: RC_IO when somebody deleted
     * or moved the files. Cheap; commit and settle look, too. */
    enum rc (*check)(struct store *, struct err *);
    /* Settings, for all servers: hands over queues, teams, calendars and silences as they are now,
     * each of which takes the place of what is known under its name, and (to cordon) the workers
     * that are cordoned, whoever owns them. Not within a turn. */
    enum rc (*settings)(struct store *, const struct load_sink *, struct err *);
    /* API keys: few, read at start. */
    enum rc (*keys)(struct store *, struct arena *, struct key_rec **ret_keys, size_t *ret_count,
                    struct err *);
    /* Adds a key, or replaces the one with that id. Not within a turn. */
    enum rc (*key_put)(struct store *, const struct key_rec *, struct err *);
    /* Raises the number of sessions of one that is there. Not within a turn. */
    enum rc (*key_sign_out)(struct store *, uint64_t id, struct err *);
    /* More handles on the same data; all are closed before the store. */
    enum rc (*reader)(struct store *, struct reader **ret_reader, struct err *);
    enum rc (*logs)(struct store *, struct logs **ret_logs, struct err *);
    /* NULL in a store that only one server can have open. */
    enum rc (*member)(struct store *, struct member **ret_member, struct err *);
    /* The cost of turns since the store was opened. From any thread. */
    struct store_cost (*cost)(struct store *);
    void (*close)(struct store *);
};

/* How long whoever uses the writing side can wait for a store that does not answer. All zero: as
 * long as the store itself. A store that cannot be cut off, or that waits for a disk only, need not
 * look at it. */
struct store_patience {
    int64_t ask_ms; /* questions within a turn, before its commit, are given up as RC_BUSY */
    /* Called now and then while the store waits (ten times a second), but not before a commit, from
     * the calling thread: another thread may be waiting for that thread. It must not use the store.
     * Where it is set, a connection that is missing is not waited for: RC_BUSY, until there is one.
     * False: there is no time left, and the call that is waited for is given up (a commit that was
     * sent: RC_UNKNOWN). */
    bool (*on_wait)(void *arg);
    void *arg;
};

struct store {
    const struct store_ops *ops;
    struct store_patience patience; /* set by the user, between turns */
    uint64_t realm; /* tells what is kept here from what is kept elsewhere, for ever; not secret */
};

/* ---- reading: short transactions, a page at a time */

/* Rows a page may look at, some 10 ms, or 100 when all must come from a disk; then it ends early.
 * Rows that are found by an index lie far apart, and each may be a read of its own. */
enum { LIST_SCAN_MAX = 10000, LIST_SPARSE_MAX = 1000 };

/* Newest first, by id. */
struct page {
    uint64_t before; /* ids below this one; 0: from the newest */
    size_t limit;    /* at least 1 */
};

struct job_page {
    struct job_rec *jobs; /* spec, no payload, no trail */
    size_t count;
    uint64_t next; /* the next page's before; 0: this was the end. A page that looked at
                    * LIST_SCAN_MAX rows (or LIST_SPARSE_MAX) ends early: it may be short, or empty,
                    * and have a next */
};

struct exec_page {
    struct exec_rec *execs; /* no result, no trail */
    size_t count;
    uint64_t next;
};

struct alert_page {
    struct alert_rec *alerts;
    size_t count;
    uint64_t next;
};

/* Is handed numbers of one key; the text is valid during the call. */
typedef void tally_sink(void *arg, const struct tally *row);

/* Is handed one dead letter after the other; its text is valid during the call, and the store must
 * not be called from it. False: that one is too many, and the reading ends before it. */
typedef bool letter_sink(void *arg, const struct letter_rec *letter);

/* Is handed an unfinished execution and its job, without its document, as a letter_sink is. */
typedef bool live_sink(void *arg, const struct job_rec *job, const struct exec_rec *exec);

struct letter_groups {
    struct letter_group *groups;
    size_t count;
    bool complete; /* all letters of that time were looked at */
};

struct rejected_page {
    struct rejected_rec *rejected;
    size_t count;
    uint64_t next;
};

struct sla_page {
    struct sla_event_rec *events;
    size_t count;
    uint64_t next;
};

/* Which end of a dependency a job is asked about. */
enum dependency_side {
    SIDE_UPSTREAMS,  /* jobs that it waits for */
    SIDE_DEPENDANTS, /* jobs that wait for it */
};

/* Whose ids are looked for by a part of them. */
enum id_kind { ID_KIND_JOB, ID_KIND_EXEC };

/* What a database says about itself, for people: "journal_mode" and "wal". */
struct store_fact {
    const char *name;
    struct str value;
};

enum { STORE_FACTS_MAX = 16 };

struct store_about {
    const char *kind; /* "sqlite", "postgres", "memory" */
    struct str place; /* a path, or host and database; never a password */
    int64_t now_ms;   /* by the database's clock; 0: it has none of its own */
    struct store_fact facts[STORE_FACTS_MAX];
    size_t count;
};

void store_about_add(struct store_about *about, const char *name, struct str value);
/* A NULL str when it says nothing of that name. */
struct str store_about_get(const struct store_about *about, const char *name);

struct reader_ops {
    /* The job that a name means: the unfinished one of that name, else the newest that has ended.
     * RC_NOT_FOUND. */
    enum rc (*find_named)(struct reader *, struct str name, uint64_t *ret_id, struct err *);
    /* Ids with that part, newest first, at most max. Only the newest LIST_SCAN_MAX of those in its
     * range are looked at. */
    enum rc (*find_ids)(struct reader *, enum id_kind, const struct id_part *, size_t max,
                        struct arena *, uint64_t **ret_ids, size_t *ret_count, struct err *);
    enum rc (*job)(struct reader *, uint64_t id, struct arena *, struct job_rec *ret_job,
                   struct err *); /* with payload and trail; RC_NOT_FOUND */
    /* finished or not, with result and trail, and its attempts in order (tokens grow). */
    enum rc (*exec)(struct reader *, uint64_t id, struct arena *, struct exec_rec *ret_exec,
                    struct attempt_rec **ret_attempts, size_t *ret_count, struct err *);
    /* The record of one grant of an execution; all zero when there is none. Cheap: it is asked
     * before output is taken. */
    enum rc (*grant)(struct reader *, uint64_t exec_id, uint64_t token, struct grant *ret_grant,
                     struct err *);
    /* By the id of the other side, growing, at most max. None when there is no such job. */
    enum rc (*dependencies)(struct reader *, uint64_t job_id, enum dependency_side, size_t max,
                            struct arena *, struct dependency_rec **ret_dependencies,
                            size_t *ret_count, struct err *);
    /* One dead letter. RC_NOT_FOUND. */
    enum rc (*letter)(struct reader *, uint64_t exec_id, struct arena *,
                      struct letter_rec *ret_letter, struct err *);
    /* Those that fit, before a place in their order (all zero: from the newest), newest first. Ends
     * early when scan_max were looked at, or when the sink has enough. A store that finds letters
     * of one queue, name, kind or job by an index looks at no others. *ret_next: where to go on;
     * all zero when this was the end. */
    enum rc (*letters)(struct reader *, const struct letter_filter *, struct letter_place before,
                       size_t scan_max, letter_sink *sink, void *arg, struct letter_place *ret_next,
                       struct err *);
    /* Those that fit, of the newest scan_max in its span of time, by their fingerprints: at most
     * max groups, the largest first, then the one with the newest letter. */
    enum rc (*letter_groups)(struct reader *, const struct letter_filter *, size_t scan_max,
                             size_t max, struct arena *, struct letter_groups *ret_groups,
                             struct err *);
    /* What is unfinished, with ids above `after`, growing: at most max, or until the sink has
     * enough; jobs with their documents only if they are asked for. *ret_next: where to go on; 0
     * when this was the end. */
    enum rc (*live)(struct reader *, uint64_t after, size_t max, bool documents, live_sink *sink,
                    void *arg, uint64_t *ret_next, struct err *);
    /* The parts of an operation, by partition; with id 0 those of all operations, newest first,
     * without their ids and refusals. None when there is no such operation. */
    enum rc (*operations)(struct reader *, uint64_t id, struct arena *,
                          struct operation_rec **ret_parts, size_t *ret_count, struct err *);
    /* Definitions of a job that was edited: at most max, from version `newest` on downwards. */
    enum rc (*versions)(struct reader *, uint64_t job_id, uint32_t newest, size_t max,
                        struct arena *, struct version_rec **ret_versions, size_t *ret_count,
                        struct err *);
    /* With its document. RC_NOT_FOUND. */
    enum rc (*calendar)(struct reader *, struct str name, struct arena *,
                        struct calendar_rec *ret_calendar, struct err *);
    /* All, by name, without their documents. */
    enum rc (*calendars)(struct reader *, struct arena *, struct calendar_rec **ret_calendars,
                         size_t *ret_count, struct err *);
    /* These two: candidates for a page. They fit what the filter says of states, queues, owner,
     * team, name, the first tag, the job of an execution and spans of time; of executions what is
     * said of their jobs is left to store_list_execs, as is all the rest. */
    enum rc (*jobs)(struct reader *, const struct filter *, const struct page *, struct arena *,
                    struct job_page *ret_page, struct err *);
    enum rc (*execs)(struct reader *, const struct filter *, const struct page *, struct arena *,
                     struct exec_page *ret_page, struct err *);
    /* At most max jobs behind a place, by an index that is in that order (SORT_NEWEST is not one of
     * these): all that have a name, or the job of each execution that waits for its moment
     * (scheduled, retrying), so that a job may be there twice. No filter is asked. */
    enum rc (*sorted)(struct reader *, enum job_sort, const struct sort_place *after, size_t max,
                      struct arena *, struct sorted_page *ret_page, struct err *);
    /* Tells sink, in no order, of each execution that runs, or ran at some moment of
     * [from_ms, until_ms). At most scan_max rows are looked at in each place where executions are:
     * *ret_whole is false where there were more. */
    enum rc (*ran)(struct reader *, const struct ran_query *, ran_sink *sink, void *arg,
                   bool *ret_whole, struct err *);
    /* Facts about many at once, in the order of the ids; the id of an answer is 0 where there is
     * none. Jobs come without their documents, … */
    enum rc (*heads)(struct reader *, const uint64_t *job_ids, size_t count, struct arena *,
                     struct job_rec *ret_jobs, struct err *);
    /* … or as lists have them, with their documents and with how they stand now, … */
    enum rc (*standings)(struct reader *, const uint64_t *job_ids, size_t count, struct arena *,
                         struct job_rec *ret_jobs, struct err *);
    /* … and of executions it is the newest attempt that has ended, with the class and fingerprint
     * of its failure, and its worker; no more of it need be there. */
    enum rc (*newest_attempts)(struct reader *, const uint64_t *exec_ids, size_t count,
                               struct arena *, struct attempt_rec *ret_attempts, struct err *);
    /* The newest executions of each of these jobs, at most max, as lists have them: those that are
     * unfinished, or those that have ended. */
    enum rc (*runs)(struct reader *, const uint64_t *job_ids, size_t count, bool unfinished,
                    size_t max, struct arena *, struct exec_page *ret_pages, struct err *);
    /* Silences, oldest first, also those that have ended and are not forgotten yet. */
    enum rc (*silences)(struct reader *, struct arena *, struct silence_rec **ret_silences,
                        size_t *ret_count, struct err *);
    /* Candidates for a page, newest first: all alerts (state 0), or those that are pending. For a
     * list see store_list_alerts. */
    enum rc (*alerts)(struct reader *, enum alert_state state, const struct page *, struct arena *,
                      struct alert_page *ret_page, struct err *);
    /* Adds up what is counted of each of these keys from one hour up to, without, another. */
    enum rc (*tally)(struct reader *, enum tally_scope, const struct str *keys, size_t count,
                     int64_t from_hour, int64_t until_hour, struct tally_sum *ret_sums,
                     struct err *);
    /* Hands over what all keys of a scope have in those hours: in any order, a key perhaps several
     * times, and durations without their buckets. */
    enum rc (*tallies)(struct reader *, enum tally_scope, int64_t from_hour, int64_t until_hour,
                       tally_sink *, void *arg, struct err *);
    /* Since when SLAs are counted by queue, owner and team; 0: always. */
    enum rc (*sla_since)(struct reader *, int64_t *ret_ms, struct err *);
    /* Every counter of the store added up, whoever owns what it counts: by kind, queue and state,
     * growing, without those that are zero. */
    enum rc (*counters)(struct reader *, struct arena *, struct counter **ret_counters,
                        size_t *ret_count, struct err *);
    /* A page of what was told about SLAs, newest first: of one execution, or, when exec_id is 0, of
     * all of a job. */
    enum rc (*sla_events)(struct reader *, uint64_t job_id, uint64_t exec_id, const struct page *,
                          struct arena *, struct sla_page *ret_page, struct err *);
    /* A page of what came through the inbox and could not be made, newest first. */
    enum rc (*rejected)(struct reader *, const struct page *, struct arena *,
                        struct rejected_page *ret_page, struct err *);
    /* Asks the database itself, so RC_OK also says that it answers. */
    enum rc (*about)(struct reader *, struct arena *, struct store_about *ret_about, struct err *);
    void (*close)(struct reader *);
};

struct reader {
    const struct reader_ops *ops;
    /* Boot clock; 0: no end. Set by any thread that has no more time: what is waited for then is
     * given up as RC_BUSY, and so is what comes after. A store that waits for a disk only need not
     * look at it. */
    atomic_int_least64_t until_ms;
};

/* For stores: RC_NOT_FOUND when id is 0, with a sentence about the name. */
enum rc store_named_found(struct str name, uint64_t id, struct err *err);

/* `runs` for a store that is asked about one as quickly as about many: one list after the other. */
enum rc store_read_runs(struct reader *reader, const uint64_t *job_ids, size_t count,
                        bool unfinished, size_t max, struct arena *arena,
                        struct exec_page *ret_pages, struct err *err);

/* A page of those that fit all that the filter says. Where a store does not find them by itself,
 * candidates are read a chunk at a time, at most about LIST_SCAN_MAX of them, or fewer where each
 * needs a look elsewhere; and a page may end early as other lists do. */
enum rc store_list_jobs(struct reader *reader, const struct filter *filter, const struct page *page,
                        struct arena *arena, struct job_page *ret_page, struct err *err);
enum rc store_list_execs(struct reader *reader, const struct filter *filter,
                         const struct page *page, struct arena *arena, struct exec_page *ret_page,
                         struct err *err);
/* Jobs that fit in another order, behind a place (store_sorted.c). By name all of them: those
 * without one come last. By the next run those that have one ahead, once each. A page may end
 * early, as above. */
enum rc store_list_sorted(struct reader *reader, enum job_sort sort, const struct filter *filter,
                          const struct sort_place *after, size_t limit, struct arena *arena,
                          struct sorted_page *ret_page, struct err *err);

/* The same for alerts, which are few: candidates are read a chunk at a time, and at most
 * LIST_SCAN_MAX of them, so a page may be short, or empty, and have a next. */
enum rc store_list_alerts(struct reader *reader, const struct alert_filter *filter,
                          const struct page *page, struct arena *arena, struct alert_page *ret_page,
                          struct err *err);

/* ---- output of commands, and what they leave for their next attempt */

struct logs_ops {
    /* One transaction. Chunks that are there already are left as they are. */
    enum rc (*append)(struct logs *, const struct log_chunk *, size_t count, struct err *);
    /* The chunks behind `after`, in order: at least one when there is one, and no more once
     * bytes_max are reached. None: the end for now. */
    enum rc (*read)(struct logs *, uint64_t exec_id, struct log_place after, size_t bytes_max,
                    struct arena *, struct log_chunk **ret_chunks, size_t *ret_count, struct err *);
    /* Deletes output older than that, at most `max` chunks a call; says how many. */
    enum rc (*trim)(struct logs *, int64_t before_ms, size_t max, size_t *ret_count, struct err *);
    /* Takes the place of what the execution has, unless a larger token wrote that. No bytes: there
     * is none from now on, and the token is remembered. */
    enum rc (*put_checkpoint)(struct logs *, const struct checkpoint *, struct err *);
    /* RC_NOT_FOUND when there is none. */
    enum rc (*checkpoint)(struct logs *, uint64_t exec_id, struct arena *,
                          struct checkpoint *ret_checkpoint, struct err *);
    /* A page of all there are, without their bytes: those with ids above `after`, growing, at most
     * max. Also those that have no bytes (any more). */
    enum rc (*checkpoints)(struct logs *, uint64_t after, size_t max, struct arena *,
                           struct checkpoint **ret_checkpoints, size_t *ret_count, struct err *);
    /* Forgets it, and its token. */
    enum rc (*drop_checkpoint)(struct logs *, uint64_t exec_id, struct err *);
    void (*close)(struct logs *);
};

struct logs {
    const struct logs_ops *ops;
};

/* ---- other servers, in a store that they share
 *
 * Each server has one row, which it renews every second. Whether one has fallen silent is for those
 * who watch to say, each by its own boot clock: the store's clock may be set. So seen_ms is a mark
 * of one beat (its age by that clock only says for whom nothing is left lying), and what is done to
 * a silent server is done only while its row has that very mark. A server that could not renew must
 * stop deciding in time, counted on its own boot clock from when it sent the renewal. */

struct node_rec {
    struct str name;    /* unique among those that are there */
    struct str start;   /* of this start alone; the owner that `own` was given */
    struct str address; /* where other servers reach it: http://HOST:PORT */
    struct str version; /* of the program */
    bool draining;      /* gives back what it has, takes nothing */
    int64_t started_ms; /* by the store's clock, as are all times here */
    int64_t seen_ms;    /* the newest renewal */
    int64_t clock_ms;   /* the time by its own wall clock then, … */
    int64_t time_ms; /* … and which time it went by; 0: it did not know yet, or is too old to say */
    int64_t lease_ms;   /* that its workers are given; 0: an older version, which does not say */
    int64_t grace_ms;   /* outage_grace_ms: how long it keeps leases alive without the store */
    struct str boot_id; /* of the machine that it runs on */
    /* Of our own row, and not kept: the start before this one, which is dead for sure. */
    struct str replaces;
};

/* A node that does not say how long it keeps leases alive is believed to do so for as long as we
 * would, and this. */
enum { NODE_UNSAID_MS = 30000 };

struct partition_rec {
    uint64_t epoch;
    struct str owner;  /* start of a node; empty: free */
    struct str former; /* its owner before it was given back, or was taken */
    int64_t since_ms;
    int64_t unsure_ms; /* how long leases that nobody has confirmed may outlive its next load */
};

struct cluster_view {
    int64_t now_ms;            /* by the store's clock: a sample, which may be wrong */
    uint64_t newest_id;        /* no id in the store is larger; 0: there is none */
    uint64_t settings_version; /* grows with every change of a queue, a team, a calendar, a cordon
                                * or a key */
    uint64_t lost_turns; /* that were committed on this store's handle and are gone: see recover */
    struct node_rec *nodes; /* by name; also those that are silent */
    size_t node_count;
    struct partition_rec *partitions;
    size_t partition_count;
};

struct member_ops {
    /* Writes our row and reads all, in one round trip. RC_CONFLICT: another server has our name,
     * neither the one that we replace nor one whose newest beat is lapsed_ms (0: none is known to
     * be silent); the view is read all the same, so that it can be watched. RC_DEPOSED: somebody
     * else's row has taken the place of ours. */
    enum rc (*renew)(struct member *, const struct node_rec *me, int64_t lapsed_ms, struct arena *,
                     struct cluster_view *ret_view, struct err *);
    /* Takes those in wanted that are free, of the start that we replace, or whose owner has no row
     * or has not renewed since this view (in which somebody found it silent), raising their epochs;
     * adds what it got to *own, with the floors. A silent owner may keep leases alive for its grace
     * and a lease: unsure_ms becomes at least that (of its numbers and ours the larger ones count,
     * and NODE_UNSAID_MS where it says nothing), and the bit in deprived is set. Else unsure_ms is
     * as the row has it. */
    enum rc (*take)(struct member *, const struct node_rec *me, uint64_t wanted,
                    const struct cluster_view *view, struct ownership *own, struct err *);
    /* The view says that turns were lost: the store has gone back to an earlier state (a standby
     * that lagged has taken over). Gives all that is ours by the store new epochs and token floors,
     * and the settings a new version, each far from those that were lost and would come again; *own
     * becomes what it says. Until then every commit is refused with RC_DEPOSED, and so is every one
     * under the epochs of before. */
    enum rc (*recover)(struct member *, const struct node_rec *me, struct ownership *own,
                       struct err *);
    /* Gives those back with own->unsure_ms, and takes them out of *own. The turn must not decide
     * about them any more. */
    enum rc (*release)(struct member *, uint64_t partitions, struct ownership *own, struct err *);
    /* Leases that nobody has confirmed are left in none of those: unsure_ms becomes 0, also in
     * *own. */
    enum rc (*ensure)(struct member *, uint64_t partitions, struct ownership *own, struct err *);
    /* Gives everything back and deletes our row. */
    enum rc (*leave)(struct member *, const struct node_rec *me, struct err *);
    /* Forgets the rows of these nodes, as far as they own nothing and have not renewed since. */
    enum rc (*forget)(struct member *, const struct node_rec *nodes, size_t count, struct err *);
    void (*close)(struct member *);
};

struct member {
    const struct member_ops *ops;
    atomic_int_least64_t until_ms; /* as that of a reader */
};

/* ---- opening */

enum durability {
    DURABILITY_FULL,   /* an acknowledged commit survives a power cut */
    DURABILITY_NORMAL, /* it survives the process; a power cut may undo the last ones */
};

/* In memory, for tests and the simulator. Readers and logs work too (behind a lock). */
struct store *store_mem_open(void);
/* As a transaction of somebody else's would: takes a number for a row of the inbox, and, whenever
 * it is committed, puts the row there. Tests and the simulator make gaps with it. */
uint64_t store_mem_mail_number(struct store *store);
void store_mem_mail(struct store *store, const struct inbox_rec *rec);
/* All that is there, in no order; text is valid during the call. */
void store_mem_each_mail(struct store *store, void (*tell)(void *arg, const struct inbox_rec *rec),
                         void *arg);
size_t store_mem_mail_count(struct store *store);

/* A directory with belfry.db and logs.db; made when missing, migrated when older. RC_BUSY when
 * another server has it open, RC_UNSUPPORTED when a newer version wrote it. */
enum rc store_sqlite_open(const char *dir, enum durability durability, struct store **ret_store,
                          struct err *err);

struct postgres_options {
    int64_t lease_ms;    /* how long another server may be silent before `own` takes what it had */
    uint32_t partitions; /* when the schema is made now; 0: 16 */
    uint32_t answer_ms;  /* a connection of turns that is silent for so long is given up; 0: 20 s */
};

/* A database, by its URL: postgres://USER:PASSWORD@HOST1,HOST2/DATABASE. Schema belfry is made when
 * missing and migrated when older, where the user may; else RC_DENIED says what to do.
 * RC_UNSUPPORTED when a newer version wrote it. */
enum rc store_postgres_open(const char *url, const struct postgres_options *options,
                            struct store **ret_store, struct err *err);

struct migrated {
    int64_t from; /* version of the schema; 0: there was none */
    int64_t to;
};

/* Makes the schema or brings it to the newest version. partitions (0: 16) counts when it is made.
 * role: it is granted the rights that a server needs, and its time-outs; NULL: no role is. */
enum rc store_postgres_migrate(const char *url, uint32_t partitions, const char *role,
                               struct migrated *ret_migrated, struct err *err);
