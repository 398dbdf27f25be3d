/* mail.h - rows that partitions and users write for one another: when a turn reads its inbox, how
 * much of it, and what becomes of each row. */
#pragma once
#include "base/vec.h"
#include "engine/core/left.h"
#include "job/command/command.h"

struct engine;
struct question_list;

/* Where rows of the inbox come from. */
enum mail_source {
    MAIL_NEWS,   /* messages of servers, and cancels */
    MAIL_WISHES, /* submissions of users */
    MAIL_LEFT,   /* rows that waited: left.h */
    MAIL_SOURCES,
};

/* The next page of the first two. */
struct mail_place {
    uint64_t after_id; /* 0: the first of a round, which begins */
    enum inbox_from from;
    bool more; /* the round is not over: the next turn goes on with it */
};

/* When to look into the inbox. */
struct post {
    bool told;          /* the server was told that there is a row */
    int64_t look_ms;    /* boot clock: look then without being told */
    size_t page;        /* act upon no more rows than this; 0: as many of each source as the
                                  * options say */
    size_t bytes;       /* read no more bytes than this; 0: as the options say */
    uint64_t refuse_id; /* reject this row, because of engine.inbox.fault */
    struct mail_place places[2]; /* by source */
    uint64_t again_after;        /* of the rows that wait the next is behind this one … */
    int64_t again_ms;            /* … and is tried again then; boot clock */
    bool again;                  /* or with the next turn, since it goes well */
    bool announce; /* ready work was loaded, which may have asked for permits before */
    bool limited;  /* there is a new limit, and work that began without permits */
};

/* The inbox as the engine remembers it between turns. */
struct inbox {
    struct post post;
    struct left left;    /* rows that stay there */
    struct err left_why; /* why the newest row that waits does */
    size_t looked;       /* rows that the newest turn acted upon, also when it was undone */
    uint64_t first_id;   /* the first of them */
    bool refused;        /* one of them was post.refuse_id */
    struct err fault;    /* why one of them is refused */
    bool held;           /* no row is read */
};

struct mail_row {
    const struct inbox_rec *rec;
    enum mail_source source;
    struct command cmd; /* the command that the row asks for; kind 0: there is none */
    struct err err;     /* why there is none, of a submission; or why the row waits */
};

/* The rows that a turn found. */
struct mail_read {
    bool looks;  /* it asks for something of it, … */
    bool afresh; /* … and not only for the rest of rounds that have begun */
    struct question *asked[MAIL_SOURCES]; /* NULL: nothing of that source */
    size_t taken[MAIL_SOURCES];           /* rows of the answer that it deals with */
    VEC(struct mail_row) rows;
    const struct err *why; /* why one of them has to wait */
};

enum mail_fate {
    MAIL_DONE,
    MAIL_WAITS,   /* there is no room for it */
    MAIL_STRANGE, /* of a newer version */
};

/* A row to be sent with this turn's commit; the caller fills in the rest. */
struct inbox_rec *mail_send(struct engine *e, enum inbox_kind kind, uint32_t bucket);
void mail_undo(struct engine *e);
void mail_ask(struct engine *e, unsigned round, struct question_list *list);
/* Acts upon the rows that were asked for. */
void mail_step(struct engine *e);
void mail_commit(struct engine *e);
int64_t mail_wait_ms(const struct engine *e, int64_t boot_ms);

/* ---- mail_act.c */

/* Makes the row's command, so that it can ask its questions. */
void mail_prepare(struct engine *e, struct mail_row *row);
enum mail_fate mail_act(struct engine *e, struct mail_row *row);
