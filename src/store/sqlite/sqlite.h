/* sqlite.h - the inside of the SQLite store, shared by its files.
 *
 *   store.c   opening, closing, API keys     admit.c   what a turn asks
 *   turn.c    ownership and transactions     commit.c  what a turn keeps (commit_exec.c)
 *   requests.c   idempotency keys            wal_checkpoint.c   the log's way into the file
 *   load.c    everything unfinished          read.c, list.c, logs.c   the other handles
 *
 * The writer's connection carries the turn's transaction from its first admit to its commit. */
#pragma once
#include "store/sqlite/db.h"
#include "store/sqlite/requests.h"
#include "store/sqlite/vfs.h"
#include "store/sqlite/wal_checkpoint.h"
#include "store/store.h"

struct sqlite_store {
    struct store store;
    struct db db;
    struct vfs vfs;      /* of db */
    struct mover *mover; /* of db; owned */
    atomic_uint_least64_t commits;
    int lock_fd;     /* owned */
    char *db_path;   /* owned */
    char *logs_path; /* owned */
    struct requests requests;

    /* The turn under way. */
    bool in_turn;
    size_t taken_claims;
    uint64_t newest_id; /* among the holders of claims it took */
};

static inline struct sqlite_store *sqlite_of(struct store *store)
{
    return (struct sqlite_store *)(void *)store;
}

/* turn.c */
enum rc sqlite_own(struct store *store, struct str node, struct ownership *ret_owned,
                   struct err *err);
enum rc sqlite_settle(struct store *store, const struct ownership *own, uint64_t turn,
                      enum settled *ret_settled, struct err *err);
/* Begins the turn under own's epoch unless it has begun. */
enum rc sqlite_turn_begin(struct sqlite_store *s, const struct ownership *own, struct err *err);
/* Ends it, whole. Fails as db_commit does; over in any case. */
enum rc sqlite_turn_commit(struct sqlite_store *s, struct err *err);
void sqlite_turn_abort(struct sqlite_store *s); /* harmless when there is none */
/* RC_IO when the files are not where they were opened. */
enum rc sqlite_check(struct store *store, struct err *err);
enum rc sqlite_turn_deposed(const struct ownership *own, struct err *err);

/* admit.c, commit.c, load.c */
enum rc sqlite_admit(struct store *store, const struct ownership *own,
                     struct question *const *questions, size_t count, struct arena *arena,
                     struct err *err);
enum rc sqlite_fetch(struct store *store, uint64_t job_id, uint64_t exec_id, struct arena *arena,
                     struct str *ret_spec, struct str *ret_payload, struct err *err);
enum rc sqlite_commit(struct store *store, const struct ownership *own, const struct delta *delta,
                      struct err *err);
enum rc sqlite_settings(struct store *store, const struct load_sink *sink, struct err *err);
enum rc sqlite_load(struct store *store, const struct ownership *own, int64_t until_ms,
                    const struct load_sink *sink, struct err *err);

/* The payload that an execution has of its own, by one of the two statements that read it.
 * RC_NOT_FOUND. */
enum rc sqlite_payload(struct db *db, enum sql sql, uint64_t exec_id, struct arena *arena,
                       struct str *ret_payload, struct err *err);

/* commit_exec.c: what commit does with executions, and with attempts that do not stand in their
 * row */
enum rc sqlite_keep_exec(struct db *db, const struct exec_change *change, struct err *err);
enum rc sqlite_keep_attempt(struct db *db, const struct attempt_rec *attempt, struct err *err);

/* old.c: what commit and admit do with what is too old */
enum rc sqlite_forget(struct db *db, const struct delta *delta, struct err *err);
enum rc sqlite_find_old(struct sqlite_store *s, struct arena *arena, struct question *q,
                        struct err *err);
enum rc sqlite_find_old_alerts(struct sqlite_store *s, struct arena *arena, struct question *q,
                               struct err *err);
enum rc sqlite_find_old_tallies(struct sqlite_store *s, struct arena *arena, struct question *q,
                                struct err *err);

/* letters.c: what commit, admit and readers do with dead letters */
enum rc sqlite_keep_letters(struct db *db, const struct delta *delta, struct err *err);
enum rc sqlite_find_letter(struct db *db, enum sql sql, uint64_t exec_id, struct arena *arena,
                           struct letter_rec *ret_letter, bool *ret_found, struct err *err);
enum rc sqlite_find_letters(struct sqlite_store *s, struct arena *arena, struct question *q,
                            struct err *err);
enum rc sqlite_read_letter(struct reader *reader, uint64_t exec_id, struct arena *arena,
                           struct letter_rec *ret_letter, struct err *err);
enum rc sqlite_read_letters(struct reader *reader, const struct letter_filter *filter,
                            struct letter_place before, size_t scan_max, letter_sink *sink,
                            void *arg, struct letter_place *ret_next, struct err *err);
enum rc sqlite_group_letters(struct reader *reader, const struct letter_filter *filter,
                             size_t scan_max, size_t max, struct arena *arena,
                             struct letter_groups *ret_groups, struct err *err);

/* operations.c: what admit and readers do with operations on many */
enum rc sqlite_find_live_jobs(struct sqlite_store *s, struct arena *arena, struct question *q,
                              struct err *err);
enum rc sqlite_find_operations(struct sqlite_store *s, struct arena *arena, struct question *q,
                               struct err *err);
enum rc sqlite_read_operations(struct reader *reader, uint64_t id, struct arena *arena,
                               struct operation_rec **ret_parts, size_t *ret_count,
                               struct err *err);
enum rc sqlite_read_live(struct reader *reader, uint64_t after, size_t max, bool documents,
                         live_sink *sink, void *arg, uint64_t *ret_next, struct err *err);

/* inbox.c: the same for what partitions tell each other */
enum rc sqlite_find_inbox(struct sqlite_store *s, struct arena *arena, struct question *q,
                          struct err *err);
enum rc sqlite_find_left_mail(struct sqlite_store *s, struct arena *arena, struct question *q,
                              struct err *err);
enum rc sqlite_keep_mail(struct db *db, const struct delta *delta, struct err *err);
enum rc sqlite_list_rejected(struct reader *reader, const struct page *page, struct arena *arena,
                             struct rejected_page *ret_page, struct err *err);

/* read.c, list.c */
struct sqlite_reader {
    struct reader reader;
    struct db db;
};

static inline struct db *reader_db(struct reader *reader)
{
    return &((struct sqlite_reader *)(void *)reader)->db;
}

enum rc sqlite_reader(struct store *store, struct reader **ret_reader, struct err *err);
/* Begins a snapshot, which all statements see until its end; the end is for CLEANUP. */
enum rc sqlite_snapshot(struct reader *reader, struct db **ret_db, struct err *err);
void sqlite_snapshot_end(struct db **db);
enum rc sqlite_list_jobs(struct reader *reader, const struct filter *filter,
                         const struct page *page, struct arena *arena, struct job_page *ret_page,
                         struct err *err);
enum rc sqlite_list_sorted(struct reader *reader, enum job_sort sort,
                           const struct sort_place *after, size_t max, struct arena *arena,
                           struct sorted_page *ret_page, struct err *err);
enum rc sqlite_list_execs(struct reader *reader, const struct filter *filter,
                          const struct page *page, struct arena *arena, struct exec_page *ret_page,
                          struct err *err);

enum rc sqlite_read_ran(struct reader *reader, const struct ran_query *q, ran_sink *sink, void *arg,
                        bool *ret_whole, struct err *err);

/* logs.c */
enum rc sqlite_logs(struct store *store, struct logs **ret_logs, struct err *err);

/* about.c, facts.c: see struct reader_ops. */
enum rc sqlite_read_about(struct reader *reader, struct arena *arena, struct store_about *ret_about,
                          struct err *err);
enum rc sqlite_read_heads(struct reader *reader, const uint64_t *job_ids, size_t count,
                          struct arena *arena, struct job_rec *ret_jobs, struct err *err);
enum rc sqlite_read_standings(struct reader *reader, const uint64_t *job_ids, size_t count,
                              struct arena *arena, struct job_rec *ret_jobs, struct err *err);
enum rc sqlite_read_newest_attempts(struct reader *reader, const uint64_t *exec_ids, size_t count,
                                    struct arena *arena, struct attempt_rec *ret_attempts,
                                    struct err *err);
