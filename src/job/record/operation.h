/* operation.h - one action on many jobs, executions or dead letters.
 *
 * Somebody asks once, and the servers do it step by step, also over restarts. An operation has a
 * part for each partition: a row of its own, with its place in that partition. The owner of the
 * partition takes steps of it, and keeps the place in the commit that has the work of the step; so
 * whoever takes the partition over goes on behind what was done. An operation is over when all of
 * its parts are.
 *
 * It covers what was created before it began and still fits when it is reached. Its filter is that
 * of the list of jobs, or of executions (filter.h), and is kept as text. Plain values. */
#pragma once
#include "base/arena.h"
#include "job/record/filter.h"
#include "job/record/letter.h"

/* Kept by number: append only. */
enum operation_kind {
    OPERATION_RETRY = 1, /* dead letters, by a filter of their own */
    OPERATION_DISCARD,
    /* Up to here: the same as those behind it, by versions that kept filters in columns
     * (operation_old.c). Those versions do not know the others, and leave them alone: they would
     * see no filter, and act upon everything. */
    OPERATION_OLD_LAST = 8,
    OPERATION_PAUSE_JOBS,
    OPERATION_RESUME_JOBS,
    OPERATION_CANCEL_JOBS,
    OPERATION_TRIGGER_JOBS,
    OPERATION_CANCEL_EXECS,
    OPERATION_RETRY_EXECS, /* those that are dead letters, by what lists of executions know */
    OPERATION_KINDS
};

enum operation_state {
    OPERATION_RUNNING = 1,
    OPERATION_DONE,
    OPERATION_CANCELLED, /* by a user, before its end */
    OPERATION_FAILED,    /* its filter cannot be read by this version: nothing more is done */
    OPERATION_STATES
};

/* "cancel", "jobs" */
struct str operation_kind_name(enum operation_kind kind);
struct str operation_subject_name(enum operation_kind kind);
struct str operation_state_name(enum operation_state state);
bool operation_is_about_jobs(enum operation_kind kind);
/* It acts upon dead letters. */
bool operation_is_about_letters(enum operation_kind kind);

/* What actions on jobs, and on executions, are filtered by: what their lists are. */
enum filter_of operation_filter_of(enum operation_kind kind);
/* After the last parameter: what filter_check says, what this action has nothing to do with, and
 * what it cannot know. *ret_name is the parameter that err continues. */
enum rc operation_filter_check(enum operation_kind kind, const struct filter *filter,
                               struct str *ret_name, struct err *err);
/* It restricts nothing; a name that is any name does not. */
bool operation_filter_is_empty(const struct filter *filter);
/* As an operation keeps it; empty: it is longer than OPERATION_FILTER_BYTES_MAX. */
struct str operation_filter_text(enum operation_kind kind, const struct filter *filter,
                                 struct arena *arena);

/* A filter as earlier versions kept it, in columns. Texts of many lines have one value on each. */
struct operation_old {
    uint32_t states;
    struct str queues;
    struct str tags;
    struct str name;
    struct str owner;
    struct str team;
    uint64_t job_id;
    int64_t created_after_ms;
    int64_t created_before_ms;
};

/* A part of an operation. */
struct operation_rec {
    uint64_t id;
    uint32_t partition;
    uint32_t parts; /* of the operation */
    enum operation_kind kind;
    enum operation_state state;
    struct letter_filter filter; /* which dead letters: RETRY and DISCARD */
    struct str which;            /* which jobs or executions: operation_filter_text, … */
    struct filter meant;         /* … and what it means: operation_read */
    struct operation_old old;    /* of old kinds; else empty */
    bool by_ids;
    struct str ids;         /* instead of a filter: growing, ID_DIGITS each, of this partition */
    struct str by;          /* who asked */
    int64_t created_ms;     /* what came later is none of its business */
    int64_t finished_ms;    /* 0: it goes on */
    bool counted;           /* total says how many there were when it was asked for … */
    uint64_t total;         /* … in the part of its id's partition; in others 0 */
    uint64_t done;          /* so far */
    uint64_t refused;       /* could not be done */
    struct letter_place at; /* the last one it has looked at; died_ms is 0 but for dead letters */
    struct str refusal;     /* why the last one was refused, or why it has failed */
    struct str refusals;    /* the first of them, a line each: ID_DIGITS, space, why */
};

enum {
    OPERATIONS_MAX = 100,      /* that are remembered; the oldest that are over make room */
    OPERATION_IDS_MAX = 10000, /* that one may name */
    OPERATION_FILTER_BYTES_MAX = 1 << 17, /* of the text of a filter */
    OPERATION_REFUSAL_MAX = 200,          /* bytes of such a text that are kept */
    OPERATION_REFUSALS_MAX = 100,         /* refusals that are kept */
    OPERATION_REFUSALS_BYTES = OPERATION_REFUSALS_MAX * (OPERATION_REFUSAL_MAX + 16),
};

/* Makes what was read from a store, or came from another server, what this version works with: old
 * kinds become those of today, and `meant` is made from `which`, its texts in the arena. When that
 * is none of this version's filters it fails; *op has a kind of today all the same. */
enum rc operation_read(struct operation_rec *op, struct arena *arena, struct err *err);
/* Of an old kind: the one of today, with its filter in `which`. Others stay as they are. */
void operation_renew(struct operation_rec *op, struct arena *arena);

/* The following go by `meant`. An execution that is not over, and its job, are what the operation
 * acts upon, as they stand. Where the filter asks for it, the job has its document. */
bool operation_takes(const struct operation_rec *op, const struct job_rec *job,
                     const struct exec_rec *exec);
bool operation_needs_document(const struct operation_rec *op);
/* The same for a dead letter. */
bool operation_takes_letter(const struct operation_rec *op, const struct letter_rec *letter);
/* Those that it takes are among the letters that fit this. */
struct letter_filter operation_letters(const struct operation_rec *op);
/* Whether jobs in this state are what it acts upon. */
bool operation_takes_state(const struct operation_rec *op, uint32_t state);
/* The number of ids in such a text, and one of them; 0: it makes no sense. */
size_t operation_id_count(struct str ids);
uint64_t operation_id(struct str ids, size_t index);

/* As a text for another server, which makes a part of its own of it. What is zero or empty is left
 * out, so that a version which does not know a field can read what does not use it. */
struct str operation_text(const struct operation_rec *op, struct arena *arena);
/* Texts of the record point into the text. False: it says what this version does not know. The
 * filter is not looked at: operation_read. */
bool operation_parse(struct str text, struct operation_rec *ret_op);

/* The facts about existing operations that a new one must know. */
struct operation_brief {
    uint64_t id;
    bool over;
};
