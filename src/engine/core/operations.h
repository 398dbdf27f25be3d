/* operations.h - one command for many jobs, executions or dead letters: its parts that run, each
 * carried out some things a turn (operation_step.c). */
#pragma once
#include "base/buf.h"
#include "base/list.h"
#include "job/command/command.h"

struct engine;
struct question_list;
struct touched;

struct operation_values {
    enum operation_state state;
    int64_t finished_ms;
    uint64_t done;
    uint64_t refused;
    struct letter_place at;
    int64_t wake_ms;  /* boot clock: not before */
    uint64_t stepped; /* the turn that went on with it: who waits longest is next */
    uint32_t refusal_len;
    char refusal[OPERATION_REFUSAL_MAX];
    size_t refusals_len; /* of operation.refusals */
};

/* A part in a partition of ours. One that does not run any more leaves memory with the commit. */
struct operation {
    struct list_node node;    /* on engine.operations, oldest first */
    struct operation_rec rec; /* as it was born; its texts are in text, those of meant in arena */
    struct arena arena;       /* owned */
    struct str unreadable;    /* why its filter makes no sense to this version; empty: it does */
    struct operation_values v;
    struct touched *touched;
    struct buf refusals; /* owned; only appended to, and cut by undo */
    char text[];
};

/* How fast operations go on beside other work. */
struct operation_pace {
    int64_t others_until_ms; /* boot clock: there has been other work so lately */
    int64_t paced_ms;        /* boot clock: up to then the credit was counted */
    int64_t credit;          /* things that may be done, in thousandths */
};

/* The store has refused a turn, and perhaps for what an operation did in it. */
struct operation_doubt {
    size_t max;  /* a step does no more things; 0: as many as ever */
    bool refuse; /* the next thing is refused unseen, for this reason */
    struct err why;
    bool held; /* no operation goes on */
};

struct operations {
    struct list list; /* operation.node, oldest first */
    size_t count;
    struct operation_pace pace;
    struct operation_doubt doubt; /* between turns; over with the next one that is kept */
};

/* Something that a step looks at. */
struct operation_item {
    struct letter_place place;
    const struct letter_rec *letter;
    const struct job_rec *job;   /* with its execution, when the operation goes by a filter … */
    const struct exec_rec *exec; /* … and is not about dead letters */
    struct command cmd;          /* kind 0: a letter to discard */
};

/* The part of a turn that goes on with an operation. */
struct operation_step {
    struct operation *op;   /* NULL: nothing */
    size_t max;             /* things */
    struct question *asked; /* for things that fit; NULL: they are named */
    struct operation_item *items;
    size_t count;
    bool more; /* behind them */
};

/* ---- operations.c */

struct operation_rec operation_record(const struct operation *op);
void operation_free(struct engine *e, struct operation *op);
void operations_free(struct engine *e);
void ask_operate(struct engine *e, struct command *cmd, struct question_list *list);
void decide_operate(struct engine *e, struct command *cmd);
void decide_cancel_operation(struct engine *e, struct command *cmd);
/* From the owner of the operation's id: there is one; it is to stop. False: the part says more than
 * this version knows. */
bool heard_operate(struct engine *e, const struct inbox_rec *rec);
void heard_stop(struct engine *e, const struct inbox_rec *rec);

/* ---- operation_step.c */

void operations_ask(struct engine *e, unsigned round, struct question_list *list);
/* Goes on with what operations_ask asked for. */
void operations_step(struct engine *e);
/* The turn is kept: so was what its step did. */
void operations_commit(struct engine *e);
/* When all commands of the turn are decided: was there other work, to leave room for? */
void operations_note_others(struct engine *e);
int64_t operations_wait_ms(const struct engine *e, int64_t boot_ms);
