/* model.h - what the engine holds in memory: the structs that its own files share.
 *
 * Jobs, executions and workers each have *values* (`v`), which a turn changes and undo restores,
 * and *places* (heaps and lists), which follow from the values: `exec_place` and `worker_place`
 * put a thing where its values say, `…_unplace` takes it out. So undo needs no log of what was
 * moved where: it takes the thing out, puts the old values back, and places it again. And the
 * delta needs no log either: it is the difference between before and after of what was touched.
 * Lists whose order matters are kept in the order of a number among the values, for the same
 * reason: what was undone stands exactly where it stood. */
#pragma once
#include "base/heap.h"
#include "base/id.h"
#include "base/map.h"
#include "base/vec.h"
#include "engine/core/alerts.h"
#include "engine/core/engine.h"
#include "engine/core/left.h"
#include "engine/ready/ready.h"
#include "job/lease.h"

struct queue_values {
    uint32_t concurrency; /* 0: no limit */
    bool paused;
    int64_t paused_ms;
    struct str paused_by; /* among engine.names */
    int64_t changed_ms;
    struct str changed_by; /* the same */
    bool gone;             /* forgotten; freed when the turn is committed */
};

/* The numbers that stores keep of a queue (enum counter_kind). */
struct numbers {
    int64_t jobs[JOB_STATES];
    int64_t execs[EXEC_STATES];
    int64_t letters[EXEC_STATES]; /* dead letters, by how they died */
};

/* Names and numbers of one queue. It outlives its jobs for a while: see forget.c. */
struct queue {
    struct str name;
    struct queue_values v;
    uint32_t users;        /* definitions, homes, and dead letters that leave in this turn */
    bool known;            /* a commit knows it; else it is here for the users of this turn alone */
    uint32_t reading;      /* the newest of engine.calendar_readings that had it */
    struct list_node idle; /* on engine.idle_queues: as of the last commit nobody needs it … */
    int64_t idle_ms;       /* … since; boot clock */
    uint32_t held;         /* leases */
    uint32_t lent;         /* of those held: no leases of ours, but permits (limit_remote.h) */
    uint32_t home;         /* the bucket that its limit lives in, … */
    struct str home_key;   /* … and the name of that */
    struct breaker_window finals; /* how executions ended lately; memory only, boot clock */
    struct list lanes;            /* lane.sibling */
    struct touched *touched;
    struct numbers now; /* as of the last commit, of all partitions that are owned */
    /* What this turn adds, by partition, so that an execution is subtracted where it was added, whoever
     * owned what in between. In the turn's arena, from seal on; NULL: nothing, or nothing there. */
    struct numbers **changes;
    struct list_node changed; /* on engine.changed_queues while this turn has changes */
};

/* What a calendar says, read. It is never changed: who puts another puts another one of these. */
struct book {
    struct arena arena; /* owned: of what follows */
    struct almanac almanac;
    uint32_t version;
    int64_t changed_ms;
    struct str changed_by;
};

struct calendar_values {
    struct book *book; /* owned; so is the one before, until the turn has ended. NULL: there is no
                        * such calendar (any more), or its record makes no sense */
};

/* A calendar by its name; gone with its book and the last definition that names it. */
struct named_calendar {
    struct calendar_values v;
    uint32_t users;   /* definitions */
    uint32_t reading; /* the newest of engine.calendar_readings that had it */
    struct touched *touched;
    struct str name;
};

/* What a job goes by. */
struct calendar_list {
    size_t count;
    struct calendar_ref {
        struct named_calendar *calendar;
        bool has_policy;
        enum calendar_policy policy;
    } items[];
};

/* What was submitted about a job. It is never changed: an edit puts another one in its place, and
 * undo the old one back. So jobs that were read from the store, and differ in nothing that decides
 * about them, share one. */
struct definition {
    uint32_t users;
    bool common;               /* is in engine.definitions, by all that follows the next member */
    struct schedule *schedule; /* behind the struct; NULL: it runs once */
    uint32_t version;
    int32_t priority;
    struct queue *queue;
    struct track *track; /* joined for as long as this lives */
    struct retry retry;
    int64_t timeout_ms;         /* of an attempt; 0: none */
    struct unique_rule *unique; /* owned, and its key with it; NULL: none */
    struct misfire misfire;
    enum overlap overlap;
    bool delayed; /* its first execution waits for a while, not for a date */
    int64_t start_within_ms;
    int64_t expires_in_ms;
    struct sla sla;                  /* all zero: none */
    struct calendar_list *calendars; /* owned; NULL: it goes by none */
    uint32_t spec_len;               /* 0: fetch it from the store */
    uint32_t payload_len;
    _Alignas(struct schedule) char tail[]; /* the schedule; spec and payload, unless they are too
                                            * large to keep */
};

struct job_values {
    enum job_state state;
    struct definition *def; /* owned; so is the one before, until the turn has ended */
    uint64_t last_exec;
    int64_t finished_ms;
};

/* Of these and of executions there may be a million: their members stand so that there are no holes
 * between them. */
struct job {
    uint64_t id;
    int64_t created_ms;
    const struct str *owner; /* among engine.names */
    struct list execs;       /* exec.sibling, oldest first */
    struct list edges;       /* edge.sibling: what its executions wait for */
    struct job_values v;
    struct touched *touched;
    uint32_t exec_count; /* executions in memory; with the last one it leaves, too */
    uint32_t name_len;
    bool unblocking; /* it is being decided which of them goes: an end decides nothing */
    char name[];
};

/* What ends by the boot clock. */
enum term_kind { TERM_LEASE, TERM_WORKER };

struct term {
    struct heap_node node;
    enum term_kind kind;
};

/* What is known about how long a run usually takes (slow_runs.c). */
enum pace {
    PACE_UNKNOWN, /* nobody has asked yet */
    PACE_ASKING,  /* the store is to be asked */
    PACE_KNOWN,
    PACE_FREE, /* too few have run to tell */
};

struct exec_values {
    enum exec_state state;
    uint32_t attempts;
    uint16_t lost; /* these two count as far as they can */
    uint16_t returned;
    uint16_t unseen; /* as in its record, and proven, too */
    bool proven;
    uint8_t sla_marks; /* as in its record, and so are the other two */
    bool effect_done;  /* as in its record */
    bool stop_told;    /* its worker was told to stop it, in a reply that may have been lost */
    bool late;         /* as in its record */
    bool unsure;       /* began while nobody knew the time; memory only */
    bool newer;    /* began by the time of a step that has yet to move the others; memory only */
    bool spared;   /* leased: the server stood still meanwhile; memory only */
    uint8_t pace;  /* enum pace; memory only, and usual_ms, too */
    uint8_t wants; /* permits asked for, a bit for each bar and one for its queue: limit_remote.h */
    uint8_t has;   /* those granted, and with the home until they are given back */
    bool recharged;     /* leased: to what its lease is charged stands in engine.charges */
    uint32_t looked;    /* held: which of engine.calendar_changes its due_ms takes into account */
    int64_t slot_ms;    /* as in its record; an edit may move what has not begun */
    int64_t nominal_ms; /* the same */
    int64_t due_ms;
    int64_t
        ready_ms; /* its place in the track; never earlier than that of one before it. Scheduled:
                       * held by a calendar since, 0 when it is not */
    int64_t started_ms;
    int64_t finished_ms;
    uint64_t granted; /* the number of its newest grant (engine.grants): orders worker.leases */
    struct lease lease;
    int64_t sla_since_ms;
    int64_t sla_extra_ms;
    int64_t times_out_ms; /* boot clock: a lease is not renewed from then on; 0: never */
    int64_t named_ms;     /* boot clock: since when its worker names it; 0: it has not yet */
    int64_t usual_ms;     /* PACE_KNOWN: what runs of its job usually take */
    uint64_t slot_count;  /* as in its record */
    int64_t slot_last_ms;
    uint64_t ask;         /* the number of its newest request for permits */
    int64_t shift_ms;     /* by how much the clock was set while it waited; memory only */
    int64_t give_back_ms; /* boot clock, while it is queued: what it has goes back then */
};

/* How an attempt ended. */
struct attempt_end {
    enum outcome outcome;
    struct usage usage;
    struct str error;
    enum failure_class class; /* FAILURE_NONE: it did not fail */
    struct str tail;
};

struct exec {
    uint64_t id;
    struct job *job;
    struct list_node sibling; /* on job.execs */
    uint64_t retry_of;
    bool first;         /* made with its job */
    bool own_payload;   /* as in its record; the text is the store's */
    uint16_t waits_for; /* how many of its edges wait */
    enum origin origin;
    int64_t created_ms;
    struct heap_node due;   /* on engine.dues while it waits for its time, and afterwards on
                                 * engine.deadlines while it should start by one */
    struct term term;       /* the end of its lease */
    struct heap_node ready; /* in its job's track; held by a calendar: on engine.held; leased and
                                 * PACE_ASKING: on engine.pacing */
    struct list_node on_worker; /* on worker.leases, or on engine.orphans */
    uint64_t listed;            /* the newest poll (engine.polls) that named it */
    uint64_t named_token;       /* of a lease that nobody here gave, and a worker named; 0: none */
    struct exec_values v;
    struct touched *touched;
};

struct worker_values {
    uint64_t seq;           /* of the newest poll */
    uint64_t told_seq;      /* of the first poll whose answer said what we own; 0: none did */
    int64_t seen_ms;        /* boot clock: its newest poll */
    int64_t wake_ms;        /* boot clock: end of parking, or time to forget it */
    struct command *parked; /* the poll that waits for something to say */
    uint64_t
        parked_no; /* the number of that parking (engine.parkings): orders worker_class.waiting */
    uint32_t offered; /* free slots of that poll */
    bool draining;
    bool gone; /* forgotten; freed when the turn is committed */
};

struct worker {
    uint64_t id;
    struct worker_class *worker_class;
    uint32_t name_len;
    uint32_t slots;
    uint32_t busy; /* leases on the list */
    int64_t registered_ms;
    uint64_t replaces;    /* as in its record */
    uint32_t boot_id_len; /* of the text behind the name */
    struct list leases;
    struct list_node waiting; /* on worker_class.waiting while it is parked with free slots */
    struct term term;
    struct worker_values v;
    struct touched *touched;
    /* A poll that this turn answers or parks; on engine.open. */
    struct {
        struct list_node node;
        struct command *cmd;
        uint32_t free;
        int64_t until_ms; /* boot clock: it was parked until then; 0: it is new */
        bool answer;      /* there is something to say, even without leases */
        VEC(struct poll_lease) leases;
        VEC(struct poll_stop) stops;
    } turn;
    char name[];
};

struct edge_values {
    enum dependency_state state;
    bool asking;     /* waits: nobody knows yet for what, and the store is asked */
    bool unsure;     /* waits: for a slot that was still ahead; later ones may count as well */
    uint64_t target; /* waits: for the end of this job, or of this execution of the upstream */
    int64_t slot_ms; /* of a waiter: a slot at or before this counts; 0: the job */
};

/* That a job waits for another; see depends.c. */
struct edge {
    uint64_t dependant;       /* the id of the job that waits */
    struct exec *exec;        /* its execution that waits; NULL: a rule, for each when it is due */
    struct edge *rule;        /* by which it waits; NULL: it is a rule, or is kept by itself */
    struct list_node sibling; /* on job.edges; a rule: on rulebook.rules */
    uint64_t upstream;        /* the id of the other */
    uint64_t waiter; /* an execution elsewhere that waits, when that is not ours; 0: none */
    enum dependency_type type;
    struct heap_node place; /* while it waits: in upstream.edges, or in engine.asking */
    struct edge_values v;
    struct touched *touched;
};

/* All that wait for the end of one thing, by the execution that waits: the order follows from
 * nothing else. */
struct upstream {
    struct heap edges;
};

/* A dead letter that leaves in this turn. */
struct gone_letter {
    struct letter_place place;
    struct queue *queue;
    enum exec_state state;
};

struct operation_values {
    enum operation_state state;
    int64_t finished_ms;
    uint64_t done;
    uint64_t refused;
    struct letter_place at;
    int64_t wake_ms; /* boot clock: not before */
    bool gone;       /* forgotten; freed when the turn is committed */
    uint32_t refusal_len;
    char refusal[OPERATION_REFUSAL_MAX];
};

/* See operations.c; the fields are those of its record. */
struct operation {
    uint64_t id;
    struct list_node node; /* on engine.operations, oldest first */
    enum operation_kind kind;
    struct letter_filter filter; /* its texts, and by, are in text */
    struct str by;
    int64_t created_ms;
    uint64_t total;
    struct operation_values v;
    struct touched *touched;
    char text[];
};

/* What a turn does for an operation. */
struct operation_step {
    struct operation *op; /* NULL: nothing */
    struct question *letters;
    struct command *commands; /* one for each of them, to run it again */
};

/* Where the pass over what is old stands (retention.c). */
struct retain {
    bool held;       /* nothing is looked for */
    int64_t wake_ms; /* boot clock: of its next step */
    uint64_t after_id;
    uint64_t after_alert;
};

/* What a turn asks about that may be old; NULL: nothing. */
struct retain_asked {
    struct question *letters;
    struct question *execs;
    struct question *alerts;
    struct question *tallies;
};

/* Of a limit whose home is ours: who elsewhere has a permit, or waits for one. */
struct home {
    struct str key; /* owned, behind the struct: kind and key */
    enum limit_kind kind;
    struct limit *limit; /* joined; NULL: it is a queue's */
    struct queue *queue;
    struct heap asks;   /* permits that are not granted, by rank */
    int64_t most;       /* no request of them bore more at once */
    struct map permits; /* execution -> struct permit, owned; without any it is gone */
};

/* A permit that was loaded, of an execution that is ours as its home is. */
struct own_row {
    struct own_row *next;
    uint64_t exec_id;
    struct str key; /* owned, behind the struct */
};

struct permit_values {
    bool granted;
    bool gone; /* forgotten; freed when the turn is committed */
    int64_t max;
    int64_t rank;
    uint64_t ask;
};

struct permit {
    struct home *home;
    uint64_t exec_id;
    int64_t asked_ms;
    struct heap_node place; /* in home.asks while it is not granted */
    struct permit_values v;
    struct touched *touched;
};

/* Where rows of the inbox come from. */
enum mail_source {
    MAIL_NEWS,   /* what servers tell each other, and cancels */
    MAIL_WISHES, /* what users submit */
    MAIL_LEFT,   /* what waited: left.h */
    MAIL_SOURCES,
};

/* The next page of the first two. */
struct mail_place {
    uint64_t after_id; /* 0: the first of a round, which begins */
    enum inbox_from from;
    bool more; /* the round is not over: the next turn goes on with it */
};

/* When to look into the inbox (mail.c). */
struct post {
    bool told;       /* somebody said that there is something */
    int64_t look_ms; /* boot clock: without being told */
    size_t
        page; /* act upon no more rows than this; 0: as many as the options say, of each source */
    size_t bytes;                /* read no more bytes than this; 0: as the options say */
    uint64_t refuse_id;          /* reject this row, because of engine.mail_fault */
    struct mail_place places[2]; /* by source */
    uint64_t again_after;        /* of those that wait the next is behind this one … */
    int64_t again_ms;            /* … and is tried again then; boot clock */
    bool again;                  /* or with the next turn, since it goes well */
    bool announce; /* something ready was loaded, which may have asked for permits before */
    bool limited;  /* there is a limit that was none, and work that began without permits */
};

struct mail_row {
    const struct inbox_rec *rec;
    enum mail_source source;
    struct command cmd; /* that somebody could have sent; kind 0: there is none */
    struct err err;     /* why there is none, of a submission; or why it waits */
};

/* What a turn found there. */
struct mail_read {
    bool looks;  /* it asks for something of it, … */
    bool afresh; /* … and not only for the rest of rounds that have begun */
    struct question *asked[MAIL_SOURCES]; /* NULL: nothing of that source */
    size_t taken[MAIL_SOURCES];           /* rows of the answer that it deals with */
    VEC(struct mail_row) rows;
    const struct err *why; /* one of them has to wait */
};

/* What becomes of a row. */
enum mail_fate {
    MAIL_DONE,
    MAIL_WAITS,   /* there is no room for it */
    MAIL_STRANGE, /* of a newer version */
};

/* What a job waits for each time it is due. In memory also while the job is not. */
struct rulebook {
    struct list rules; /* edge.sibling */
};

/* What is over and whose dependants are to be told. */
struct ended {
    uint64_t id;
    enum job_state state;
    enum exec_state slot; /* as what the slot ended; EXEC_NONE: it is a job */
    bool job_over;        /* the job itself has ended, and is ours */
    bool purged;          /* the slot is too old to be known */
};

/* What the store is asked in this turn about how long the runs of a job take. */
struct slow_runs_asked {
    uint64_t exec_id;
    const struct question *question;
};

/* What the store is asked in this turn about the upstream of an edge. */
struct slot_asked {
    struct edge *edge;
    const struct question *question;
};

enum thing {
    THING_JOB,
    THING_EXEC,
    THING_WORKER,
    THING_QUEUE,
    THING_LIMIT,
    THING_BREAKER,
    THING_EDGE,
    THING_OPERATION,
    THING_CALENDAR,
    THING_PERMIT,
    THINGS
};

/* What a turn has changed, and how it was before. Lives in the turn's arena. */
struct touched {
    enum thing thing;
    bool is_new;    /* was not in memory before this turn: undo frees it */
    bool stored;    /* the store knew it before this turn */
    bool durable;   /* differs now in what the store keeps */
    size_t attempt; /* place (1-based) of its newest record in engine.attempts; 0: none */
    union {
        struct job *job;
        struct exec *exec;
        struct worker *worker;
        struct queue *queue;
        struct limit *limit;
        struct breaker *breaker;
        struct edge *edge;
        struct operation *operation;
        struct named_calendar *calendar;
        struct permit *permit;
    };
    union {
        struct job_values job;
        struct exec_values exec;
        struct worker_values worker;
        struct queue_values queue;
        struct limit_values limit;
        struct breaker_values breaker;
        struct edge_values edge;
        const struct operation_values *operation; /* in the arena, since they are many bytes */
        struct calendar_values calendar;
        struct permit_values permit;
    } before;
    struct str steps;                    /* trail lines */
    const struct submission *submission; /* of a job that is new or edited: the texts to keep */
    struct job_change *change;           /* of a job: its place in the delta, from seal on */
    struct str result;                   /* of a finished execution; a calendar's document */
    struct str payload;                  /* of an execution that is new and has its own */
    struct str error;
    enum letter_reason why; /* of an execution that failed for good */
};

struct zone_news {
    const struct zone *old;
    const struct zone *newer;
};

/* Everything before this place in the order (due_ms, id) is in memory. */
struct horizon {
    int64_t due_ms;
    uint64_t id;
};

/* What became of the wall clock (steps.c). */
struct clock_values {
    int64_t stepped_ms; /* as in the moment that was acted upon, … */
    int64_t shaken_ms;  /* … and this, … */
    bool unsure;        /* … and this */
    int64_t at_ms;      /* deletions wait behind this; 0: behind nothing */
    bool mend;          /* something that was loaded waits since the future, or … */
    int64_t far_ms; /* … slots were planned by a clock so far ahead, or farther; 0: they were not */
    bool shifting; /* a step is under way: */
    bool first;    /* it is the first time that was accepted */
    int64_t by_ms;
    size_t done;          /* of engine.shifts */
    bool reading;         /* slots beyond the horizon are to be looked at, … */
    struct horizon place; /* … from here on */
};

/* What a step has to move, and what it was due at then. */
struct shift {
    uint64_t exec_id;
    int64_t due_ms;
};

struct engine {
    struct engine_options options;
    struct id_gen ids;
    struct partition_set owned;
    bool shared;                     /* other servers may own what this one does not */
    uint64_t epochs[PARTITIONS_MAX]; /* of what is owned, in a cluster */
    uint64_t voice;                  /* in a cluster: another for every engine, see worker_told */
    int64_t unsure_until_ms[PARTITIONS_MAX]; /* boot clock: see `struct ownership` */
    int64_t alive_ms[PARTITIONS_MAX];        /* the same; never 0 */
    struct moment loaded;
    uint32_t bucket; /* of the newest job; the next one goes to the next */
    uint32_t bucket_before;
    uint64_t turn;        /* of the newest commit */
    uint64_t polls;       /* polls decided so far; marks what one of them listed */
    uint64_t grants;      /* leases granted so far */
    uint64_t token_floor; /* tokens are larger: the store may have lost some that were given */
    uint64_t lost_turns;  /* of the store's, which the next turn tells */
    uint64_t parkings;
    struct map jobs;
    struct map execs;
    struct map workers;
    struct map charges;   /* owned: struct str by execution, see breakers.c */
    struct map upstreams; /* id of a job or execution -> struct upstream, while one waits for it */
    struct map standing;  /* job id -> struct rulebook, of jobs that have such rules */
    struct strmap homes;  /* owned: struct home, by key */
    struct own_row *own_rows; /* owned; looked at in the first turn */
    struct strmap waiters;    /* owned: edges of executions elsewhere, by edge_waiter_key */
    struct heap asking;       /* edges, by their execution and upstream */
    size_t edge_count;
    struct strmap queues;
    struct list idle_queues;     /* queue.idle, longest first */
    size_t gone_queues;          /* of engine.queues: those that this turn forgets */
    struct list_node *idle_next; /* where this turn goes on looking for idle ones; NULL: in front */
    struct list buried_queues;   /* queue.idle: the last commit forgot them; events may name them */
    struct queue forgotten_queues; /* the numbers of all that were forgotten; it has no name */
    struct strmap names;           /* owned: texts that stay */
    struct strmap definitions;     /* those that may be shared */
    struct strmap calendars;       /* name -> struct named_calendar */
    size_t book_count;             /* of those with a book */
    struct heap held;              /* executions that a calendar holds, by (looked, id) */
    uint32_t calendar_readings;    /* of all calendars and queues, so far */
    uint32_t calendar_changes;     /* so far; what is held and has not seen them all is looked at */
    struct strmap uniques;         /* key -> the execution in memory that holds it: see unique.c */
    struct ready ready;
    struct heap dues;      /* executions that wait, by the wall clock */
    struct heap deadlines; /* executions that should have started by then, by the wall clock */
    struct heap terms;     /* leases and workers, by the boot clock */
    bool slept;            /* it stood still, and its leases have not got another term for that */
    struct heap pacing;    /* executions that are PACE_ASKING, by id */
    struct worker_classes worker_classes;
    struct alerts alerts;
    struct horizon horizon;
    struct zone_news *zone_news; /* owned: for the next turn that can be kept */
    size_t zone_news_count;
    bool resettle;       /* what was loaded may have been planned by other rules of its zone */
    struct list orphans; /* leases of workers that are not in memory */
    struct list operations;
    size_t operation_count;
    struct retain retain;
    struct post post;
    struct left left;       /* rows of the inbox that stay there */
    struct err left_why;    /* why the newest of those that wait does */
    size_t mail_looked;     /* rows that the newest turn acted upon, also when it was undone */
    uint64_t mail_first_id; /* the first of them */
    bool mail_refused;      /* one of them was post.refuse_id */
    struct err mail_fault;  /* why one of them is refused */
    struct clock_values clock;
    struct shift *shifts; /* owned: of the step under way */
    size_t shift_count;
    bool mail_held;          /* none is read */
    int64_t newest_ready_ms; /* so that a clock set back lets nobody overtake those who wait */

    /* the turn */
    uint64_t begun; /* turns so far, undone ones as well */
    struct moment moment;
    int64_t now_ms;  /* wall clock */
    int64_t boot_ms; /* boot clock */
    struct arena *arena;
    bool away;                     /* the store takes nothing: see outage.c */
    size_t due_left;               /* timers and slots that this turn may still decide about */
    struct question *due_question; /* NULL: not asked in this turn */
    struct question *far_question; /* the same */
    struct clock_rec clock_rec;    /* to be kept */
    struct clock_values clock_before;
    int64_t newest_ready_before_ms;
    struct retain_asked old;
    struct operation_step step;
    struct horizon horizon_before;
    struct retain retain_before;
    struct post post_before;
    struct mail_read reading;
    uint32_t calendar_changes_before;
    struct list open; /* workers with a poll in this turn */
    struct list done; /* commands that are answered */
    struct list changed_queues;
    VEC(struct touched *) touched;
    VEC(struct attempt_rec) attempts;
    VEC(struct claim) released;
    VEC(struct gone_letter) letters_gone;
    VEC(uint64_t) forgotten;   /* ended executions that are too old */
    struct past past;          /* where they were looked for */
    VEC(uint64_t) stays;       /* what was found there, and is not too old */
    VEC(uint64_t) alerts_gone; /* the same */
    VEC(struct claim) claims;  /* to be put */
    VEC(struct event) events;
    VEC(struct alert_rec) raised;
    VEC(struct alert_mark) alert_marks;
    VEC(struct sla_event_rec) sla_events;
    VEC(struct alert_mute *) hushed;      /* keys that this turn raised */
    bool looks;                           /* this turn looked at queues, … */
    int64_t look_next_ms;                 /* … and when to look again */
    VEC(struct ended) ended;              /* empty but while dependants are told */
    VEC(struct definition *) passed_over; /* by a second edit: neither before the turn nor after */
    VEC(struct slot_asked) slots_asked;
    VEC(struct slow_runs_asked) paces_asked;
    VEC(struct calendar_use) calendar_uses;
    VEC(struct inbox_rec) mail; /* to be sent */
    VEC(uint64_t) mail_read;    /* ids of rows that were acted upon */
    VEC(struct left_row) mail_stays;
    VEC(uint64_t) mail_went; /* of those that waited */
    VEC(struct rejected_rec) rejected;
    VEC(struct permit_change) permit_changes; /* of executions whose home is ours, too */
    struct delta delta;
};

/* When this turn is. */
static inline struct moment now_of(const struct engine *e)
{
    return (struct moment){.wall_ms = e->now_ms, .boot_ms = e->boot_ms};
}
