/* inbox.h - what partitions tell each other, and what they keep for one another.
 *
 * A message is a row in the inbox of a bucket, written in the commit of whoever sends it and
 * deleted in the commit of the owner that acts upon it. So it is acted upon exactly once, whoever
 * dies in between, and needs no numbers, acknowledgements or repeats. The bucket decides who reads
 * it, as it does for ids; with one partition nothing is ever sent, apart from what SQL submits.
 *
 * Rows of one sender for one bucket are read in the order in which they were sent. Plain values. */
#pragma once
#include "job/dependency.h"
#include "job/partition.h"

/* Kept by number: append only. A server leaves rows of kinds it does not know for one that does. */
enum inbox_kind {
    /* From a user's own SQL transaction; to any bucket. */
    INBOX_SUBMIT = 1, /* body: a job as POST /jobs takes it; name: its team; actor: its submitter */
    INBOX_CANCEL,     /* about: a job, wherever it is; actor: who; body: why */

    /* Jobs that wait for jobs elsewhere. */
    INBOX_WAIT,   /* to the upstream (about): tell its end to the execution (from, of the job in
                 * value) */
    INBOX_UNWAIT, /* to the upstream (about): the execution (from) does not wait any more */
    INBOX_OVER, /* to the execution (about): what it waited for of the upstream (from) has ended */

    /* Limits whose home is elsewhere. */
    INBOX_ASK,   /* to the home of a key (name): the execution (from) wants to start */
    INBOX_GRANT, /* to the execution (about): it may, as far as the key (name) goes */
    INBOX_FREE,  /* to the home of a key (name): the execution (from) needs it no more */
    INBOX_KEEP,  /* to a partition: who has started anew has these (body), and no others */

    INBOX_FORGET, /* to a partition: the actor has deleted the queue (name) */

    INBOX_OPERATE, /* to a partition: the operation (about) has a part there, and this one (body) */
    INBOX_STOP,    /* to a partition: the operation (about) is cancelled */
    INBOX_KINDS
};

struct inbox_rec {
    uint64_t id;     /* given by the store when it is committed or earlier; 0 in a delta */
    uint32_t bucket; /* whose partition's owner reads it */
    enum inbox_kind kind;
    int64_t sent_ms;
    uint64_t about; /* a thing of who reads it: a job or an execution; 0: none */
    uint64_t from;  /* a thing of who sent it; 0: none */
    int64_t value;  /* these two mean what the kind says; see engine/core/mail.c */
    int64_t number;
    struct str name;
    struct str actor;
    struct str body;
};

struct str inbox_kind_name(enum inbox_kind kind);

static inline bool inbox_is_known(enum inbox_kind kind)
{
    return kind >= INBOX_SUBMIT && kind < INBOX_KINDS;
}

/* ---- pages */

/* How much a turn reads of each sort (submissions; all the rest) and acts upon: rows, and bytes of
 * their texts, but at least one row. The next turn goes on. */
enum { INBOX_PAGE = 1000, INBOX_PAGE_BYTES = 8 << 20 };

/* Rows are read in rounds of pages, each round in the order of ids. Where one begins: */
enum inbox_from {
    INBOX_FROM_START, /* with all there is */
    INBOX_AGAIN,      /* where the last one began: that was not dealt with */
    INBOX_ON, /* with rows that came since the last one began: that was dealt with. A row that stays
               * there, and was told, may be told again */
};

/* A page that is being filled. */
struct inbox_page {
    size_t rows_max;
    size_t bytes_max;
    size_t rows;
    size_t bytes;
};

/* True: the page takes a row of this size, too. */
bool inbox_page_takes(struct inbox_page *page, const struct inbox_rec *rec);

/* An execution elsewhere that waits for something here. Kept with the upstream, from the commit
 * that reads INBOX_WAIT until the one that sends INBOX_OVER. One per (upstream, exec_id). */
struct waiter_rec {
    uint64_t upstream; /* job; its partition is the row's */
    uint64_t exec_id;  /* of the dependant, in a partition elsewhere */
    uint64_t dependant;
    enum dependency_type type;
    int64_t
        slot_ms; /* the latest slot of the upstream at or before this counts; 0: its end as a job */
};

struct waiter_change {
    bool forget; /* only the two ids of its key count */
    struct waiter_rec waiter;
};

/* A permit that a limit's home has granted, or was asked for and cannot grant yet. Kept with the
 * home, from the commit that reads INBOX_ASK until the one that reads INBOX_FREE. One per (key,
 * exec_id). */
struct permit_rec {
    struct str key;   /* the limit's kind as a digit, and its key: "1db" */
    uint64_t exec_id; /* in another partition than the home */
    uint32_t bucket;  /* of the home: inbox_home(key) */
    bool granted;
    int64_t max;  /* concurrency: of this many; rate: microseconds between two starts */
    int64_t rank; /* of those that wait the smallest is next */
    uint64_t ask; /* which request this answers: a grant of an older one counts for nothing */
    int64_t asked_ms;
};

struct permit_change {
    bool forget; /* only key and exec_id count */
    struct permit_rec permit;
};

/* The bucket that a limit's key lives in: the same on every server and in every version. */
uint32_t inbox_home(struct str key);

/* A job that came through the inbox and could not be made. */
struct rejected_rec {
    uint64_t id; /* as other ids: when and where it was rejected */
    int64_t at_ms;
    uint64_t inbox_id; /* what belfry.submit returned */
    struct str team;
    struct str actor;
    struct str reason;
    struct str head; /* the first bytes of what was sent */
};

enum { REJECTED_HEAD_MAX = 400 }; /* bytes: enough to know it by */

#define ID_REJECTED "rej_"
