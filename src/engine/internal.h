/* internal.h - what the engine's own files share; nobody else includes it.
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
#include "base/plant.h"
#include "base/vec.h"
#include "engine/alerts.h"
#include "engine/engine.h"
#include "engine/ready.h"
#include "job/lease.h"

struct queue_values {
    uint32_t concurrency; /* 0: no limit */
    bool paused;
    int64_t paused_ms;
    struct str paused_by; /* among engine.names */
    int64_t changed_ms;
    struct str changed_by; /* the same */
};

/* Names and numbers of one queue. Never freed: its numbers outlive its jobs. */
struct queue {
    struct str name;
    struct queue_values v;
    uint32_t held;                /* leases */
    struct breaker_window finals; /* how executions ended lately; memory only, boot clock */
    struct list lanes;            /* lane.sibling */
    struct touched *touched;
    int64_t jobs[JOB_STATES]; /* as of the last commit */
    int64_t execs[EXEC_STATES];
    int64_t letters[EXEC_STATES];    /* dead letters, by how they died */
    int64_t jobs_change[JOB_STATES]; /* of this turn; zero between turns */
    int64_t execs_change[EXEC_STATES];
    int64_t letters_change[EXEC_STATES];
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
    uint32_t users; /* definitions */
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

struct job {
    uint64_t id;
    int64_t created_ms;
    struct str owner;    /* among engine.names */
    uint32_t exec_count; /* executions in memory; with the last one it leaves, too */
    struct list execs;   /* exec.sibling, oldest first */
    struct list edges;   /* edge.sibling: what its executions wait for */
    struct job_values v;
    struct touched *touched;
    uint32_t name_len;
    char name[];
};

/* What ends by the boot clock. */
enum term_kind { TERM_LEASE, TERM_WORKER };

struct term {
    struct heap_node node;
    enum term_kind kind;
};

struct exec_values {
    enum exec_state state;
    uint32_t attempts;
    uint16_t lost; /* these two count as far as they can */
    uint16_t returned;
    uint8_t sla_marks;  /* as in its record, and so are the other two */
    bool effect_done;   /* as in its record */
    bool stop_told;     /* its worker was told to stop it, in a reply that may have been lost */
    bool late;          /* as in its record */
    int64_t slot_ms;    /* as in its record; an edit may move what has not begun */
    int64_t nominal_ms; /* the same */
    uint32_t looked;    /* held: which of engine.calendar_changes its due_ms takes into account */
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
    uint64_t slot_count;  /* as in its record */
    int64_t slot_last_ms;
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
    uint16_t waits_for; /* how many of its edges wait */
    enum origin origin;
    int64_t created_ms;
    struct heap_node due;       /* on engine.dues while it waits for its time, and afterwards on
                                 * engine.deadlines while it should start by one */
    struct term term;           /* the end of its lease */
    struct heap_node ready;     /* in its job's track; held by a calendar: on engine.held */
    struct list_node on_worker; /* on worker.leases */
    uint64_t listed;            /* the newest poll (engine.polls) that named it */
    struct exec_values v;
    struct touched *touched;
};

struct worker_values {
    uint64_t seq;           /* of the newest poll */
    int64_t seen_ms;        /* boot clock: its newest poll */
    int64_t wake_ms;        /* boot clock: end of parking, or time to forget it */
    struct command *parked; /* the poll that waits for something to say */
    uint64_t parked_no;     /* the number of that parking (engine.parkings): orders trade.waiting */
    uint32_t offered;       /* free slots of that poll */
    bool draining;
    bool gone; /* forgotten; freed when the turn is committed */
};

struct worker {
    uint64_t id;
    struct trade *trade;
    uint32_t name_len;
    uint32_t slots;
    uint32_t busy; /* leases on the list */
    int64_t registered_ms;
    struct list leases;
    struct list_node waiting; /* on trade.waiting while it is parked with free slots */
    struct term term;
    struct worker_values v;
    struct touched *touched;
    /* A poll that this turn answers or parks; on engine.open. */
    struct {
        struct list_node node;
        struct command *cmd;
        uint32_t free;
        bool answer; /* there is something to say, even without leases */
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
};

/* That a job waits for another; see depends.c. */
struct edge {
    uint64_t dependant;       /* the id of the job that waits */
    struct exec *exec;        /* its execution that waits; NULL: a rule, for each when it is due */
    struct edge *rule;        /* by which it waits; NULL: it is a rule, or is kept by itself */
    struct list_node sibling; /* on job.edges; a rule: on rulebook.rules */
    uint64_t upstream;        /* the id of the other */
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

/* Where the pass over what is old stands (retain.c). */
struct retain {
    int64_t wake_ms; /* boot clock: of its next step */
    uint64_t after_id;
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
    } before;
    struct str steps;                    /* trail lines */
    const struct submission *submission; /* of a job that is new or edited: the texts to keep */
    struct job_change *change;           /* of a job: its place in the delta, from seal on */
    struct str result;                   /* of a finished execution; a calendar's document */
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

struct engine {
    struct engine_options options;
    struct id_gen ids;
    uint32_t bucket; /* of the newest job; the next one goes to the next */
    uint64_t turn;   /* of the newest commit */
    uint64_t polls;  /* polls decided so far; marks what one of them listed */
    uint64_t grants; /* leases granted so far */
    uint64_t parkings;
    struct map jobs;
    struct map execs;
    struct map workers;
    struct map upstreams; /* id of a job or execution -> struct upstream, while one waits for it */
    struct map standing;  /* job id -> struct rulebook, of jobs that have such rules */
    struct heap asking;   /* edges, by their execution and upstream */
    size_t edge_count;
    struct strmap queues;
    struct strmap names;       /* owned: texts that stay */
    struct strmap definitions; /* those that may be shared */
    struct strmap calendars;   /* name -> struct named_calendar */
    size_t book_count;         /* of those with a book */
    struct heap held;          /* executions that a calendar holds, by (looked, id) */
    uint32_t calendar_changes; /* so far; what is held and has not seen them all is looked at */
    struct strmap uniques;     /* key -> the execution in memory that holds it: see unique.c */
    struct ready ready;
    struct heap dues;      /* executions that wait, by the wall clock */
    struct heap deadlines; /* executions that should have started by then, by the wall clock */
    struct heap terms;     /* leases and workers, by the boot clock */
    struct trades trades;
    struct alerts alerts;
    struct horizon horizon;
    struct zone_news *zone_news; /* owned: for the next turn that can be kept */
    size_t zone_news_count;
    bool resettle; /* what was loaded may have been planned by other rules of its zone */
    struct list operations;
    size_t operation_count;
    struct retain retain;
    int64_t newest_ready_ms; /* so that a clock set back lets nobody overtake those who wait */

    /* the turn */
    uint64_t begun;  /* turns so far, undone ones as well */
    int64_t now_ms;  /* wall clock */
    int64_t boot_ms; /* boot clock */
    struct arena *arena;
    bool away;                     /* the store takes nothing: see away.c */
    struct question *due_question; /* NULL: not asked in this turn */
    struct question *old_letters;  /* the same */
    struct question *old_execs;
    struct operation_step step;
    struct horizon horizon_before;
    struct retain retain_before;
    uint32_t calendar_changes_before;
    struct list open; /* workers with a poll in this turn */
    struct list done; /* commands that are answered */
    struct list changed_queues;
    VEC(struct touched *) touched;
    VEC(struct attempt_rec) attempts;
    VEC(struct claim) released;
    VEC(struct gone_letter) letters_gone;
    VEC(uint64_t) forgotten;  /* ended executions that are too old */
    VEC(struct claim) claims; /* to be put */
    VEC(struct event) events;
    VEC(struct alert_rec) raised;
    VEC(struct alert_mark) alert_marks;
    VEC(struct sla_event_rec) sla_events;
    VEC(struct hush *) hushed;            /* keys that this turn raised */
    bool looks;                           /* this turn looked at queues, … */
    int64_t look_next_ms;                 /* … and when to look again */
    VEC(struct ended) ended;              /* empty but while dependants are told */
    VEC(struct definition *) passed_over; /* by a second edit: neither before the turn nor after */
    VEC(struct slot_asked) slots_asked;
    VEC(struct calendar_use) calendar_uses;
    struct delta delta;
};

#define SERVER STR("server") /* the actor when nobody asked */
/* Why something is deduplicated. */
#define DONE_BEFORE STR("an attempt whose lease had ended reported that the work is done")

/* ---- touch.c: before-images, undo, and what they imply */

struct touched *touch_job(struct engine *e, struct job *job);
struct touched *touch_exec(struct engine *e, struct exec *x);
struct touched *touch_worker(struct engine *e, struct worker *w);
struct touched *touch_queue(struct engine *e, struct queue *q);
struct touched *touch_limit(struct engine *e, struct limit *limit);
struct touched *touch_breaker(struct engine *e, struct breaker *b);
struct touched *touch_edge(struct engine *e, struct edge *edge);
struct touched *touch_operation(struct engine *e, struct operation *op);
struct touched *touch_calendar(struct engine *e, struct named_calendar *calendar);
/* The same for a thing that came into memory in this turn: made, or, when stored, read. */
struct touched *touch_new(struct engine *e, enum thing thing, void *ptr, bool stored);

/* ---- queues.c: what holds work back */

struct queue *queue_of(struct engine *e, struct str name);
/* The same text, for as long as the engine lives. */
struct str name_keep(struct engine *e, struct str name);
/* Its lane is one of this queue, and open or closed as the queue is. */
void queue_join(struct engine *e, struct queue *q, struct lane *lane);
/* Gives it these values, and opens or closes its lanes. */
void queue_set(struct engine *e, struct queue *q, const struct queue_values *to);
/* A lease of the job begins, or ends. */
void permits_take(struct engine *e, struct job *job);
void permits_return(struct engine *e, struct job *job);
/* One of the job's executions starts now: its rate has to know. */
void rate_start(struct engine *e, struct job *job);
/* The moment of a rate has come. */
void rate_wake(struct engine *e, struct limit *limit);
struct queue_rec queue_record(const struct queue *q);
/* How long the oldest that is ready has waited; 0: nothing is. */
int64_t queue_waited_ms(const struct engine *e, const struct queue *q);
void decide_queue(struct engine *e, struct command *cmd);
void decide_queues(struct engine *e, struct command *cmd);

/* ---- breakers.c: targets that keep failing */

/* A lease of the execution begins: it may be a probe. */
void breaker_started(struct engine *e, const struct exec *x);
/* A lease ended by this event, or a late success came in. */
void breaker_heard(struct engine *e, const struct exec *x, enum exec_event event);
/* Its rest is over, or it is to be forgotten. */
void breaker_wake(struct engine *e, struct breaker *b);
struct breaker_rec breaker_record(const struct breaker *b);
void decide_breakers(struct engine *e, struct command *cmd);
void decide_reset_breaker(struct engine *e, struct command *cmd);

/* ---- tally.c: numbers for reports */

/* Adds what ended in this turn to the delta. */
void tally_seal(struct engine *e);

/* ---- alerts.c: what somebody should know about */

void alert_job_failed(struct engine *e, const struct exec *x, struct str reason);
/* The lease of the execution ended without a word. */
void alert_worker_lost(struct engine *e, const struct exec *x);
void alert_breaker_open(struct engine *e, const struct breaker *b);
void alert_sla(struct engine *e, const struct exec *x, const struct sla_event_rec *event);
/* Looks at all queues, when it is time to. */
void alerts_look(struct engine *e);
/* The turn is durable, and so is this end of an execution. */
void alerts_count(struct engine *e, const struct exec *x);
/* There is something to look at. */
void alerts_arm(struct engine *e);
/* The turn is durable: what it told is not told again for a while. */
void alerts_commit(struct engine *e);
void decide_alert_sent(struct engine *e, struct command *cmd);

/* ---- teams.c: limits over all jobs of a team */

struct team_rec team_record(const struct limit *team);
void decide_team(struct engine *e, struct command *cmd);
void decide_teams(struct engine *e, struct command *cmd);

/* ---- definition.c */

/* The rules, and the texts of rec when they are small. NULL when the queue and handler would need a
 * lane beyond lanes_max. */
struct definition *definition_new(struct engine *e, const struct job_rec *rec,
                                  const struct rules *rules, size_t lanes_max);
/* The same for what somebody wants: NULL with *ret_why when there are as many queues or lanes as may
 * be. */
struct definition *definition_wanted(struct engine *e, const struct job_rec *rec,
                                     const struct rules *rules, const char **ret_why);
/* One job less has it. */
void definition_free(struct engine *e, struct definition *def);
/* The same by another zone. */
struct definition *definition_in_zone(struct engine *e, const struct definition *def,
                                      const struct zone *zone);
struct str definition_spec(const struct definition *def);
struct str definition_payload(const struct definition *def);

/* ---- calendars.c: times at which jobs are not to run */

/* What a new definition goes by; NULL: nothing. Names that nobody knows are kept, and hold. */
struct calendar_list *calendars_join(struct engine *e, const struct rules *rules);
void calendars_leave(struct engine *e, struct calendar_list *list); /* NULL is fine */
/* The same for another definition. */
struct calendar_list *calendars_copy(const struct calendar_list *list);
/* RC_INVALID when one of them is unknown. */
enum rc calendars_check(const struct engine *e, const struct rules *rules, struct err *err);
/* What the calendars of a job say about a moment. */
struct ruling calendars_rule(const struct job *job, int64_t at_ms);
/* The same in words, for a record: "calendar 'holidays', until 2026-12-26T00:00:00.000Z". */
struct str ruling_words(struct arena *arena, const struct ruling *ruling);
/* Its due time is when a calendar lets it go. */
bool exec_is_held(const struct exec *x);
/* It waits, scheduled, until the ruling is over. */
void calendar_hold(struct engine *e, struct exec *x, const struct ruling *ruling);
/* Of a job that runs once: its calendars keep it from starting now, and it is held or skipped. */
bool calendar_stops(struct engine *e, struct exec *x);
/* What is held is looked at again after a change. Bounded: the rest comes with the next turn. */
void calendars_look(struct engine *e);
bool calendars_want_turn(const struct engine *e);
/* The job may go by others from now on: this turn looks at what they held. */
void calendars_edited(struct engine *e, struct job *job);
/* How the next slots of a new job will fare. */
void calendars_preview(struct engine *e, struct command *cmd, struct submission *item,
                       const struct job *job);
/* Notes for the delta which calendars the job goes by from now on. */
void calendars_seal(struct engine *e, const struct touched *t);
struct calendar_change calendar_changed(const struct touched *t);
void calendar_set(struct engine *e, struct named_calendar *calendar,
                  const struct calendar_values *to);
void calendar_forget_if_unused(struct engine *e, struct named_calendar *calendar);
void calendars_free(struct engine *e);
void book_free(struct book *book);
void ask_calendar(struct engine *e, struct command *cmd, struct question_list *list);
void decide_calendar(struct engine *e, struct command *cmd);

/* ---- exec.c: jobs and executions */

struct job *job_new(struct engine *e, const struct job_rec *rec, struct definition *take_def);
void job_free(struct engine *e, struct job *job);
struct str job_name(const struct job *job);
/* Of its executions in memory one is not over. */
bool job_has_unfinished(const struct job *job);
/* Gives it these values, and its executions the places that follow. */
void job_set_values(struct engine *e, struct job *job, const struct job_values *to);
/* Sets the state and leaves the record of it; event is the word for what happened. */
void job_set(struct engine *e, struct job *job, enum job_state state, struct str event,
             struct str actor, struct str reason);

struct exec *exec_new(struct engine *e, uint64_t id, struct job *job);
void exec_free(struct engine *e, struct exec *x);
void exec_place(struct engine *e, struct exec *x);
void exec_unplace(struct engine *e, struct exec *x);
/* Gives it these values and the place that follows from them. */
void exec_set(struct engine *e, struct exec *x, const struct exec_values *to);

/* One step through the state table. worker is for EV_LEASE, due_ms for EV_RETRY, EV_PLAN and
 * EV_HOLD. */
struct move {
    enum exec_event event;
    struct str actor;
    struct str reason;
    struct worker *worker;
    int64_t due_ms;
    uint64_t log_seq;
    enum letter_reason why; /* of a failure for good: why it is not tried again */
};
void exec_move(struct engine *e, struct exec *x, const struct move *move);
/* The time that it waited for has come: whether it becomes ready is for its rules to say. */
void exec_come_due(struct engine *e, struct exec *x);
/* Since when a thing is ready that becomes it now. */
int64_t ready_since_ms(struct engine *e);
/* The lease gets a full term from now. */
void exec_renew(struct engine *e, struct exec *x);
/* Leaves a line in its trail about something that is no step: event is the word for it. */
void exec_note(struct engine *e, struct exec *x, struct str event, struct str actor,
               struct str reason);
/* The record of a new execution's first state. */
void exec_created(struct engine *e, struct exec *x, struct str actor, struct str reason);
/* Writes down how the current lease ended. Call before the move that ends it. */
void exec_end_attempt(struct engine *e, struct exec *x, const struct attempt_end *end);
/* How long an attempt may take before the server ends it: the timeout, and the time its worker has
 * to end it. 0: for ever. */
int64_t exec_limit_ms(const struct engine *e, const struct exec *x);
/* That is over: its worker is told to stop it, and its lease not renewed. */
bool exec_timed_out(const struct engine *e, const struct exec *x);
/* The attempt begins now. */
void exec_start_clock(struct engine *e, struct exec *x);

/* It is not to run again: the work is done. */
void exec_deduplicate(struct engine *e, struct exec *x);

/* Asks to end it, which takes a while when it runs. */
void exec_cancel(struct engine *e, struct exec *x, struct str actor, struct str reason);

/* ---- deadlines.c: what should have started */

enum { NO_DEADLINE_MS = -1 };

/* By when it should start, or else is late or over: the next such moment. */
int64_t deadline_ms(const struct exec *x);
/* When it ends unless it has started; NO_DEADLINE_MS: never. */
int64_t expiry_ms(const struct exec *x);
/* Says that it is late when it is, and ends it when it may not start any more. True: it is over. */
bool deadline_pass(struct engine *e, struct exec *x);

/* ---- sla.c: runs that take longer than they should */

/* Puts the next limit of an execution that is leased in its place, or takes it out. */
void sla_place(struct engine *e, struct exec *x);
/* That moment has come. */
void sla_due(struct engine *e, struct exec *x);
/* A lease begins: the clock runs from now, or goes on. */
void sla_begin(const struct engine *e, const struct exec *x, struct exec_values *to);
/* The attempt is about to end, by a report or for good. */
void sla_end(struct engine *e, struct exec *x);
/* Another attempt will follow, with a clock of its own. */
void sla_reset(struct exec_values *to);
/* It took longer than it may, and has to stop for that: its worker is told so. */
static inline bool sla_stops(const struct exec *x)
{
    return (x->v.sla_marks & SLA_STOP) != 0;
}
/* Why it was stopped. */
struct str sla_error(struct engine *e, const struct exec *x);
void decide_extend_sla(struct engine *e, struct command *cmd);

/* ---- slots.c: jobs with a schedule */

/* The time of the slot that is ahead has come. */
void slot_due(struct engine *e, struct exec *x);
struct exec *slot_put_ahead(struct engine *e, struct job *job, const struct slot *slot);
/* The execution ahead, when it is in memory. */
struct exec *slot_ahead(const struct job *job);
/* Skips what was missed of the schedule since, for this reason, if anything was; never looks back. */
void slot_move_on(struct engine *e, struct exec *x, struct str reason);
/* The job has another schedule since now, in the place of old: what has passed of that is skipped,
 * and the first slot of the new one after now is ahead. Never looks back. */
void slot_replan(struct engine *e, struct job *job, const struct schedule *old, struct str actor);
/* The zone's rules may have changed since the slot was planned: puts it where it belongs now. */
void slot_resettle(struct engine *e, struct exec *x);
/* The same schedule, but its runs are due sooner or later after their slots. */
void slot_shift(struct engine *e, struct job *job, struct str actor);
/* The slot that is ahead is over without having been due: puts the one after it ahead. */
void slot_put_next(struct engine *e, struct exec *x);
/* Lets the next one go that waited for another to end, if none is under way. */
void slot_unblock(struct engine *e, struct job *job);
/* A run for which somebody asked: a new one, for now, or the one that has ended, again, for its slot. */
struct exec *slot_trigger(struct engine *e, struct job *job, const struct exec_rec *again,
                          struct str actor, struct str reason);
/* Another run of the job than this one whose time has come and that is not over; NULL: none. */
struct exec *slot_under_way(const struct job *job, const struct exec *but);
/* What keeps another run from starting, by the job's own rule; NULL: nothing. */
const struct exec *slot_in_the_way(const struct job *job);

/* ---- renew.c: zones with other rules */

/* Within a turn, before anything that is due: what engine_renew_zone said, and, after a start, a look
 * at everything that was loaded. */
void zones_renew(struct engine *e);
/* That turn was committed. */
void zones_renewed(struct engine *e);

/* ---- depends.c: jobs that wait for other jobs */

/* Asks about the jobs to wait for that are not in memory. */
void depends_ask(struct engine *e, struct command *cmd, struct submission *item,
                 struct question_list *list);
/* Whether the item may wait for what it wants to; fills in how each of those stands. */
enum rc depends_check(struct engine *e, struct command *cmd, struct submission *item,
                      struct err *err);
/* It has to wait, due_ms being when it is due. */
bool depends_hold(const struct engine *e, const struct submission *item, int64_t due_ms);
/* Makes the edges of a job that is new; skips x when one of them can never be met. */
void depends_add(struct engine *e, const struct submission *item, struct exec *x);
/* The time of x has come, and nothing of its own job is in its way. True: it is blocked now until
 * what it depends on is over, or was skipped because that can never be. */
bool depends_begin(struct engine *e, struct exec *x);
/* An execution is over: it waits for nothing any more, and who waits for its slot is told. */
void depends_exec_over(struct engine *e, struct exec *x);
/* The job has ended, with all that it did: no more rules, and its dependants go on or are
 * skipped. */
void depends_over(struct engine *e, struct job *job);
/* Somebody changed for when x is: what it waits for, or who waits for its slot, has to be found anew. */
void depends_moved(struct engine *e, struct exec *x);
void depends_slot_moved(struct engine *e, const struct exec *x);
/* Asks what those wait for of whom nobody knows it yet; some of them, when there are many. */
void depends_ask_slots(struct engine *e, struct question_list *list);
/* … and decides about them, before anything else of the turn: memory and answers are of one time. */
void depends_answer(struct engine *e);
/* The dependency of rec, new in memory: x waits by it, or when x is NULL it is a rule. */
struct edge *edge_new(struct engine *e, const struct dependency_rec *rec, struct exec *x,
                      struct edge *rule, const struct edge_values *v);
/* Touches it; what is kept of it changes only when it stands for itself. */
void edge_change(struct engine *e, struct edge *edge, struct edge_values to);
/* What the edge waits for ended like that: its execution goes on, waits on, or is skipped. */
void depends_settle(struct engine *e, struct edge *edge, const struct ended *ended);
/* x can never run. */
void depends_skip(struct engine *e, struct exec *x, struct str reason);
/* Nothing is left that x waits for but, perhaps, its time, and then the slots of others. */
void depends_go_on(struct engine *e, struct exec *x, struct str reason);
struct str why_impossible(struct engine *e, const struct edge *edge, const struct ended *ended);
/* It has a schedule. */
bool depends_recurs(struct engine *e, const struct job_rec *rec);
void edge_set(struct engine *e, struct edge *edge, const struct edge_values *to);
void edge_free(struct engine *e, struct edge *edge);
struct dependency_rec edge_record(const struct edge *edge);
void upstream_free(struct upstream *up);
void rulebook_free(struct rulebook *st);

/* ---- batch.c: jobs of one submission that depend on one another */

/* The items' numbers in an order in which each comes after those it waits for. Items in a circle,
 * or behind one, are refused. */
const size_t *batch_order(struct engine *e, struct command *cmd);

/* ---- load.c: between memory and the store */

/* What is in memory, taken over from a record when it is not there yet. NULL with err set when
 * the record makes no sense. */
struct job *adopt_job(struct engine *e, const struct job_rec *rec, struct err *err);
struct exec *adopt_exec(struct engine *e, const struct exec_rec *rec, struct err *err);
/* Asks for what is due behind the horizon; adopt_due takes it over. */
void ask_due(struct engine *e, struct question_list *list);
void adopt_due(struct engine *e);
bool beyond_horizon(const struct engine *e, const struct exec *x);

/* ---- jobs.c: submit, cancel, retry */

void decide_submit(struct engine *e, struct command *cmd);
void decide_cancel_job(struct engine *e, struct command *cmd);
void decide_cancel_exec(struct engine *e, struct command *cmd);
void decide_retry(struct engine *e, struct command *cmd);
void decide_pause(struct engine *e, struct command *cmd);
void decide_resume(struct engine *e, struct command *cmd);
void decide_trigger(struct engine *e, struct command *cmd);
void ask_submit(struct engine *e, struct command *cmd, unsigned round, struct question_list *list);
void ask_target(struct engine *e, struct command *cmd, unsigned round, struct question_list *list);
/* The job has ended: the command fails. */
bool refuse_over(struct engine *e, struct command *cmd, const struct job *job);
/* Takes over the job and the unfinished executions that the store answered with. NULL: there is no
 * such thing, or it makes no sense, and the command has failed. */
struct job *adopt_answer(struct engine *e, struct command *cmd);

/* When the only run of a job that does not recur is due, now_ms at the earliest. */
int64_t submission_due_ms(const struct submission *item, int64_t now_ms);

/* ---- edit.c: another definition for a job that is there */

void ask_edit(struct engine *e, struct command *cmd, unsigned round, struct question_list *list);
void decide_edit(struct engine *e, struct command *cmd);
/* ---- letters.c: dead letters */

/* It has failed for good. */
bool exec_is_dead(const struct exec *x);
/* The letter of an execution that died in this turn. */
struct letter_rec letter_of(struct engine *e, const struct touched *t);
/* It leaves with this turn. False when it is gone already. */
bool letter_take(struct engine *e, const struct letter_rec *letter);
bool letter_is_gone(const struct engine *e, struct letter_place place);
/* The letter of the execution that the command asked about; NULL: it is none (any more). */
const struct letter_rec *letter_asked(const struct engine *e, const struct command *cmd);
void decide_retry_letter(struct engine *e, struct command *cmd);
void decide_discard(struct engine *e, struct command *cmd);

/* ---- operations.c: many of them at once */

void operations_ask(struct engine *e, unsigned round, struct question_list *list);
/* Goes on with what operations_ask asked about. */
void operations_step(struct engine *e);
int64_t operations_wait_ms(const struct engine *e, int64_t boot_ms);
void operation_free(struct engine *e, struct operation *op);
void operations_free(struct engine *e);
struct operation_rec operation_record(const struct operation *op);
void decide_operate(struct engine *e, struct command *cmd);
void decide_operations(struct engine *e, struct command *cmd);

/* ---- retain.c: what is too old */

void retain_ask(struct engine *e, struct question_list *list);
void retain_step(struct engine *e);
int64_t retain_wait_ms(const struct engine *e, int64_t boot_ms);

/* Gives a claim back that was taken in this very transaction, for nothing. */
void give_back(struct engine *e, const struct question *q);

/* ---- once.c: requests that come again */

/* Asks for the key of a command that is no submission, and for that of one submission. */
void once_ask(struct engine *e, struct command *cmd, struct question_list *list);
void once_ask_item(struct engine *e, struct command *cmd, struct submission *item,
                   struct question_list *list);
/* Asks about the job that was made the first time: others of its batch may wait for it. */
void once_ask_original(struct engine *e, struct command *cmd, struct submission *item,
                       struct question_list *list);
/* By the answer: somebody asked for the same before, so nothing is to be decided. */
bool once_was_asked(const struct once *once);
/* True when the command is to be decided. False: it has its answer, the first one again or a
 * refusal. And after it was decided: remembers the answer, or gives the key back. */
bool once_begin(struct engine *e, struct command *cmd);
void once_end(struct engine *e, struct command *cmd);
/* The same for one submission of a command. */
bool once_begin_item(struct engine *e, struct command *cmd, struct submission *item);
void once_end_item(struct engine *e, struct submission *item);

/* ---- unique.c: work that is there once */

/* Asks for the key, if there is one, and in the round after that about who has it. */
void unique_ask(struct engine *e, struct command *cmd, const struct unique_rule *rule,
                uint64_t job_id, struct unique_asked *asked, struct question_list *list);
void unique_ask_holder(struct engine *e, struct command *cmd, struct unique_asked *asked,
                       struct question_list *list);
/* The execution that holds the key now; *ret_holder is NULL when it can be had. RC_CONFLICT: it
 * cannot, and its holder is not to be had either. */
enum rc unique_find(struct engine *e, const struct unique_rule *rule,
                    const struct unique_asked *asked, struct exec **ret_holder, struct err *err);
/* The job has the key from now on. */
void unique_take(struct engine *e, const struct unique_rule *rule, uint64_t job_id,
                 const struct unique_asked *asked);
/* What becomes of a submission whose key is held: RC_OK with item->existing, or with the holder out
 * of the way, or a refusal. */
enum rc unique_meet(struct engine *e, const struct command *cmd, struct submission *item,
                    struct exec *holder, struct err *err);
enum rc unique_taken(struct err *err, struct str key, uint64_t job_id);
/* Whether its values say that it holds the key of its job. */
bool unique_held(const struct exec *x);
void unique_place(struct engine *e, struct exec *x);
void unique_unplace(struct engine *e, struct exec *x);
void unique_release(struct engine *e, const struct exec *x);

/* ---- explain.c: why something does not run */

void ask_explain(struct engine *e, struct command *cmd, unsigned round, struct question_list *list);
void decide_explain(struct engine *e, struct command *cmd);

/* ---- workers.c: registration, polls, reports */

void decide_register(struct engine *e, struct command *cmd);
void decide_poll(struct engine *e, struct command *cmd);
void decide_hangup(struct engine *e, struct command *cmd);
void decide_drain(struct engine *e, struct command *cmd);
struct worker *worker_new(struct engine *e, const struct worker_rec *rec);
void worker_free(struct engine *e, struct worker *w);
void worker_place(struct engine *e, struct worker *w);
void worker_unplace(struct engine *e, struct worker *w);
/* Its term is over: answers the poll that was parked, or forgets the worker. */
void worker_wake(struct engine *e, struct worker *w);
/* The poll that waits from now on (NULL: none does) and when to look after the worker. */
void worker_set_parked(struct engine *e, struct worker *w, struct command *cmd, int64_t wake_ms);
/* Takes the parked poll back into the turn, so that it can be answered. */
void worker_open(struct engine *e, struct worker *w);
struct worker_rec worker_record(const struct worker *w);
/* head and the worker's id, in the turn's arena: "worker:wrk_…". */
struct str worker_words(struct engine *e, struct str head, const struct worker *w);

/* ---- report.c: what a worker says about its leases */

/* Asks about results of leases that memory knows nothing of: they may have been reported before. */
void ask_results(struct engine *e, struct command *cmd, struct question_list *list);
/* *asked counts the answers used so far, which come in the order of the results. */
void report_result(struct engine *e, const struct worker *w, struct str actor,
                   const struct poll_result *result, size_t *asked,
                   struct poll_verdict *ret_verdict);
/* Whether a token still owns its run. */
void decide_fence(struct engine *e, struct command *cmd);
/* The lease is over without a word. */
void report_silence(struct engine *e, struct exec *x, struct str reason);

/* ---- grant.c: work meets workers */

void grant_all(struct engine *e);
/* Sends a lease that got lost on its way once more, good for a full term from now. */
void grant_again(struct engine *e, struct worker *w, struct exec *x);
/* Answers the polls of this turn that have something to hear, and parks the others. */
void polls_close(struct engine *e);

/* ---- away.c: while the store takes nothing */

/* Leases whose results cannot be taken now are renewed: their worker is there. */
void away_renew(struct engine *e, const struct worker *w, const struct poll *poll);

/* ---- seal.c */

void seal_delta(struct engine *e);

/* The command has its answer. */
void command_done(struct engine *e, struct command *cmd);
enum rc command_fail(struct engine *e, struct command *cmd, enum rc rc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
struct question *command_ask(struct engine *e, struct command *cmd, struct question_list *list);
/* A question beside those that the command counts. */
struct question *ask_apart(struct engine *e, struct command *cmd, struct question_list *list);
