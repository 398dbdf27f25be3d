/* model.h - what should be true, kept in the plainest way: model.c, for the steps of executions
 * model_steps.c, for jobs that recur model_slots.c, for what holds work back model_limits.c, for failures model_failures.c,
 * for calendars model_calendars.c.
 *
 * The model hears of every turn that the store has kept (model_keep, from the store's own door) and
 * of every turn that a server has finished (model_turn_done), and remembers: what clients asked
 * for, jobs, executions, attempts, workers, and until when each lease holds. It believes nothing
 * that it can check: a delta that breaks a promise by itself (a token that does not grow, a step
 * that is not in the table, a run before its time, a lease that ends for no reason, work that
 * overtakes better work) ends the simulation right there. promises.h compares the rest with it. */
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include "base/when.h"
#include "job/command/command.h"
#include "store/store.h"

struct world;

/* What a job was to wait for: a job that was there, or one of the same submission. */
struct model_wait {
    uint64_t job_id; /* 0: of the same submission, … */
    size_t wish;     /* … this one */
    enum dependency_type type;
    enum dependency_state state;
};

/* One job that somebody asked for: what one delivery of a request said. */
struct wish {
    struct str name;
    struct str owner;
    struct str tags;
    struct str payload;
    struct str trace; /* the context that it was asked for in; empty: none */
    struct rules rules;
    enum when_kind when;
    int64_t when_ms;
    struct str cron;          /* WHEN_CRON; in UTC */
    bool seconds;             /* it begins with them */
    struct once once;         /* key and hash only; the same for a request that is sent again */
    struct model_wait *waits; /* in the day's arena */
    size_t wait_count;
    uint64_t edits;   /* this job is to become so; 0: a new one is to be made */
    uint32_t version; /* the one that the edit was made from */
    bool replan;      /* the edit changes when it runs */
    bool back;        /* the edit is to a definition that the job had */
    struct str spec;  /* the document of an edit, without its payload */
    bool unclear;     /* one of those was run again in the turn that decided about it */
    uint64_t job_id;  /* 0: nothing was kept of it */
    bool acknowledged;
};

/* Payloads say which wish they are of: {"n":17}. */
static inline size_t wish_no(const struct submission *item)
{
    uint64_t no = 0;
    str_to_u64(str_of(item->payload.ptr + 5, item->payload.len - 6), &no);
    return no;
}

/* An edit may bring an old payload back: it says of what differs which wish it is. */
static inline size_t edit_no(const struct command *cmd)
{
    return wish_no(&(struct submission){.payload = cmd->edit.what});
}

/* A definition that a job has, or had before it was edited. */
struct model_version {
    uint32_t version;
    int64_t at_ms;
    struct str actor;
    struct str spec;
    struct str payload;
    size_t wish; /* it was asked for by this */
};

struct model_job {
    struct job_rec rec;
    VEC(struct model_version) versions; /* oldest first; none: it was never edited */
    size_t submission;                  /* its wish */
    size_t definition;                  /* the newest edit's wish, or the same */
    VEC(struct model_exec *) execs;
    struct schedule *schedule; /* NULL: it runs once */
    struct slot next;          /* the first one about which nothing is written down */
    int64_t resumed_ms;        /* wall clock: what was due until then stays missed */
    bool trouble;              /* it expects pings, and that is not well: since then it was told */
    uint32_t worries;          /* how often that began … */
    bool worries_unclear;      /* (or perhaps not) … */
    uint64_t worry_turn;       /* … in this turn */
    bool was_parallel;         /* so that runs from before an edit may be side by side */
    int64_t edited_ms;         /* boot clock: of the newest edit; 0: there was none */
    uint64_t edited_turn;      /* model.turn of the newest edit, and how it was before: */
    size_t definition_before;
    struct schedule *schedule_before;
    struct model_exec *planned_before; /* the run that had not begun; NULL: none */
    int64_t slot_before_ms;            /* of that */
    uint64_t forgotten_turn;           /* in which it was deleted; 0: it is there */
};

struct model_attempt {
    uint64_t token;
    uint64_t worker_id;
    enum outcome outcome; /* OUTCOME_NONE: under way */
    enum failure_class class;
    enum permanence permanent; /* as its worker said */
    uint64_t ended_turn;
};

/* How an execution stands to its SLA. */
struct model_sla {
    int64_t since_ms; /* wall clock; 0: its clock does not run */
    int64_t extra_ms;
    bool warned; /* of this attempt */
    bool violated;
    bool must_stop;                  /* for that */
    bool exceeded;                   /* an attempt took longer than expected, … */
    bool broken;                     /* … or than the limit that decides */
    uint32_t noted[SLA_EVENT_KINDS]; /* what should have been kept, … */
    uint32_t kept[SLA_EVENT_KINDS];  /* … and what was */
    uint64_t lease_load; /* turn_view.load of the engine that granted its newest lease */
    uint64_t loads;      /* when the attempt began: servers that had started, … */
    uint64_t token;      /* … and its first lease */
};

struct model_exec {
    struct exec_rec rec;
    struct model_sla sla;
    struct model_job *job;
    unsigned number; /* 1: the job's first, and the only one that waits for other jobs */
    uint64_t born_turn;
    bool cancelled;      /* somebody was told so */
    bool settled_before; /* perhaps: by a clock that was set back since, so it had to wait again */
    bool replanned;      /* for a time that has not come: what it waits for is still to be found */
    uint64_t blocked_turn;  /* it was blocked; 0: it was made so, or never was */
    uint64_t begun_turn;    /* what it depends on did not hold it any more … */
    uint64_t hopeless_turn; /* … or never will be */
    int64_t lease_until_ms; /* boot clock */
    uint64_t lease_epoch;   /* of its partition, when it was granted or loaded */
    uint32_t kills;         /* times that it took down its worker and its server: killer.h */
    int64_t queued_ms;      /* boot clock: it became queued */
    int64_t held_ms;        /* the same: seen not to be allowed to start, on days of storms */
    int64_t wait_until_ms;  /* boot clock, as are these, on days of clocks: it waits so long, … */
    int64_t promised_boot_ms; /* … was promised to run then, … */
    int64_t sla_boot_ms;      /* … and its SLA counts from there; 0: nobody knows */
    int64_t times_out_ms;     /* boot clock: not renewed from then on; 0: never */
    uint32_t lost;            /* steps of these kinds that it has taken */
    uint32_t returned;
    struct str trace; /* the context that it was made in */
    bool traced;      /* its spans were told */
    enum exec_event ended_by;
    int64_t ended_boot_ms;     /* boot clock */
    uint64_t letter_left_turn; /* in which it left the dead letters */
    bool is_letter;            /* it is among them, as: */
    struct letter_rec letter;
    uint64_t forgotten_turn; /* in which it was deleted; 0: it is there */
    struct str payload;      /* its own; empty: its job's */
    bool slow;               /* that was told about the attempt under way */
    struct str target;       /* what its newest lease was granted for; empty: none */
    uint64_t late_turn;      /* in which it was said to be late; 0: it was not */
    uint64_t holder;         /* who had the newest lease */
    uint64_t sent_seq;       /* the poll whose answer carried it to its worker; 0: none did */
    /* as they were before the newest turn that changed it */
    uint64_t changed_turn;
    uint64_t token_before;
    uint64_t holder_before;
    VEC(struct model_attempt) attempts; /* tokens grow */
};

struct model_worker {
    struct worker_rec rec;
    bool forgotten;
};

/* What the newest start under a rate's key left behind. */
struct model_rate {
    struct str key;
    int64_t started_ms; /* boot clock */
    int64_t interval_us;
    int64_t skew_ms;  /* of the wall clock, then */
    int64_t more_ms;  /* it may keep others waiting longer by this: the clock was set before it */
    uint64_t loads;   /* model.loads, then */
    int64_t first_ms; /* wall clock: in a cluster, the first start, … */
    int64_t count;    /* … and how many there were */
};

/* A target that was ever left alone. */
struct model_breaker {
    struct breaker_rec rec; /* as it was kept last */
    uint32_t partition;     /* the lowest of the server that saw the calls */
    int64_t until_ms; /* boot clock: it rests until then, or its probe has so much time, … */
    uint64_t loads;   /* … as far as the server of that time is concerned */
};

/* A failure that counts against a target. */
struct model_blame {
    struct str target;
    int64_t at_ms; /* boot clock */
};

/* The newest alert of a key. */
struct model_alert {
    struct str key;
    uint64_t id;
    int64_t told_ms; /* boot clock */
    uint64_t loads;  /* by the engine that was loaded as that */
    bool silenced;   /* and it was to be sent to nobody */
};

/* A silence, also one that is not there any more. */
struct model_silence {
    uint64_t id;
    struct str key;
    int64_t until_ms;
    uint64_t kept_turn;
    uint64_t gone_turn; /* 0: it is there */
};

/* An alert that the store has. */
struct model_told {
    uint64_t id;
    int64_t at_ms;
    enum alert_state state;
    bool silenced;
    bool acked;
};

/* A thing that an operation is to act upon: a job, or an execution. */
struct model_target {
    uint64_t id;
    bool met;   /* it was acted upon */
    bool other; /* somebody else has changed it since */
};

/* A part of something that is done with many. */
struct model_operation {
    struct operation_rec rec;
    uint64_t most;                    /* letters that it may have come across by now */
    uint64_t loads;                   /* model.loads, when it began */
    VEC(struct model_target) targets; /* what fitted when it began; not of letters */
};

/* What a calendar is to say. */
struct model_plan {
    enum calendar_policy policy;
    struct {
        int64_t from_ms;
        int64_t to_ms;
    } spans[3];
    size_t span_count;
};

struct model_calendar {
    struct str name;
    const struct model_plan *plan; /* NULL: it was deleted */
    uint64_t changed_turn;
    int64_t changed_ms; /* boot clock */
    uint32_t version;   /* as it was kept, these two */
    int64_t kept_ms;
};

struct model_ruling {
    enum verdict verdict;
    int64_t until_ms;
};

/* A request that was kept under a key. */
struct model_request {
    struct str key;
    struct str hash;
    uint64_t job_id;
    int64_t until_ms; /* wall clock: it is known until then */
};

/* A unique key that is kept after success. */
struct model_kept {
    struct str key;
    uint64_t job_id;
    int64_t until_ms;   /* wall clock */
    uint64_t over_turn; /* in which another took it, or the job ran again; 0: none did */
};

struct model {
    struct arena *arena;               /* of the day */
    const struct partition_set *scope; /* leases are counted here; NULL: everywhere */
    uint64_t turn;                     /* turns tried so far, by anybody */
    uint64_t epochs[PARTITIONS_MAX];   /* the newest owners' */
    uint64_t loads;                    /* servers that have started so far */
    int64_t loaded_ms;                 /* boot clock: the newest of those */
    int64_t settings_ms; /* boot clock: the newest change of what belongs to everybody */
    int64_t newest_ms;   /* wall clock: the latest at which a turn was kept */
    VEC(struct wish) wishes;
    VEC(struct model_request) requests;
    VEC(struct model_kept) kept;
    VEC(struct model_job *) jobs;
    VEC(struct model_exec *) execs;
    VEC(struct model_worker *) workers;
    VEC(struct queue_rec) queues; /* those that somebody decided about */
    VEC(struct team_rec) teams;   /* the same */
    VEC(struct model_rate) rates;
    VEC(struct model_breaker) breakers;
    VEC(struct model_blame) blames;
    VEC(struct model_alert) alerts;
    VEC(struct model_told) told;
    VEC(struct model_silence) silences;
    VEC(struct model_operation) operations;
    VEC(const struct model_plan *) plans; /* all that anybody ever asked for */
    VEC(struct model_calendar) calendars;
    struct map job_by_id;
    struct map exec_by_id;
    struct map worker_by_id;
    struct map applied; /* deliveries of commands that changed something */
    int64_t longest_ms; /* by the wall clock: of the attempts that have ended */
    size_t once_count;  /* unfinished executions of jobs that run once */
};

/* The turn that is being tried. */
struct turn_view {
    struct command *const *commands;
    size_t count;
    struct moment now;
    struct partition_set owned; /* by the server that tries it */
    uint64_t turn;              /* model.turn, when it began; others may have come between */
    uint64_t load;              /* model.loads, when its engine was loaded */
};

void model_free(struct model *m);
/* What was deleted is there until the end of the turn that did it: its answers know it. */
struct model_job *model_job(const struct model *m, uint64_t id);
struct model_exec *model_exec(const struct model *m, uint64_t id);
struct model_worker *model_worker(const struct model *m, uint64_t id);
/* It has a lease, within the scope. */
bool model_is_leased(const struct model *m, const struct model_exec *x);
/* Leases that a worker holds. */
size_t model_leases(const struct model *m, uint64_t worker_id);
struct model_attempt *model_attempt(struct model_exec *x, uint64_t token);
/* What it is by now. */
const struct wish *model_wish(const struct model *m, const struct model_job *job);
/* The wish that a payload stands for; false: none does. */
bool model_find_wish(const struct model *m, struct str payload, size_t *ret_no);
bool model_same_lane(const struct world *w, const struct model_exec *a, const struct model_exec *b);
/* It has ended in silence so often that it goes on probation, where it may have to wait for others. */
bool model_is_suspect(const struct model_exec *x);
bool model_was_granted(const struct model *m, const struct model_exec *x); /* in this turn */

/* The store keeps this delta, now. */
void model_keep(struct world *w, const struct delta *delta, const struct turn_view *view);
/* The lines that a turn added to the trail of an execution, one after the other (model_steps.c). */
void steps_take(struct world *w, struct model_exec *x, struct str steps, const struct exec_rec *to,
                const struct turn_view *view);
/* After that: what waits for other jobs (model_waits.c). First each step of it. */
bool model_waits(const struct world *w, const struct model_exec *x);
void waits_step(struct world *w, struct model_exec *x, enum exec_event event, struct str reason,
                const struct turn_view *view);
/* An edit is kept that plans x, which runs once, for another moment. */
void waits_replanned(struct world *w, struct model_exec *x, const struct wish *edit,
                     const struct turn_view *view);
void model_check_waits(struct world *w);
/* Everything in the turn has happened; done are the commands that are answered. */
void model_turn_done(struct world *w, const struct turn_view *view, const struct list *done);
/* A server that may not decide has answered a poll: what it keeps is good for a term. */
void model_kept(struct world *w, const struct command *poll);
/* A new owner has loaded these: each lease gets a full term, from when it began to. */
void model_reloaded(struct world *w, const struct partition_set *owned, int64_t began_ms);
/* It was taken by somebody. */
void model_owned(struct world *w, const struct ownership *own);
/* Nobody has taken anything of that since. */
bool model_is_owner(const struct world *w, const struct ownership *own);

/* ---- jobs that recur: each slot has one outcome */

bool model_recurs(const struct model_exec *x);
/* The one that is planned next; NULL: none. */
struct model_exec *model_ahead(const struct model_job *job);
int64_t model_due_ms(const struct model_exec *x);
/* A job was kept that recurs: here is its first slot. */
void slots_begin(struct world *w, struct model_job *job);
/* A new execution of it is the next slot, or one that somebody asked for now. */
void slots_born(struct world *w, struct model_exec *x, const struct exec_rec *rec,
                const struct turn_view *view);
/* The time of a slot has come, and this was decided about it. */
/* It was planned by a clock that was far ahead, and a server has started by another. */
bool slots_returns(enum exec_event event, struct str reason);
void slots_decided(struct world *w, struct model_exec *x, enum exec_event event, struct str reason,
                   const struct exec_rec *to, const struct turn_view *view);
/* After each turn that changed something of it. */
void slots_check(struct world *w, const struct model_job *job);

/* ---- jobs that expect pings (model_pings.c) */

bool model_expects(const struct model *m, const struct model_job *job);
/* A step of an execution that waits for a ping. */
void pings_step(struct world *w, struct model_exec *x, enum exec_event event, struct str reason,
                const struct exec_rec *to, const struct turn_view *view);
/* After all steps of the turn: each job that came into trouble was told of. */
void pings_told(struct world *w, const struct delta *delta);

/* ---- jobs that are edited (model_edits.c) */

bool model_edited_now(const struct model *m, const struct model_job *job); /* in this turn */
/* The job's row was redefined. */
void edits_keep(struct world *w, struct model_job *job, const struct job_change *change,
                const struct turn_view *view);
/* A slot of it was decided, moved or skipped in the same turn. */
void edits_slot(struct world *w, const struct model_exec *x, enum exec_event event,
                struct str reason, const struct exec_rec *to, const struct turn_view *view);
/* Everything else of the turn is kept. */
void edits_check(struct world *w, struct model_job *job, const struct turn_view *view);

/* ---- definitions that a job had (model_versions.c) */

/* An edit that was asked for by this wish is kept; the job is still as it was. */
void versions_keep(struct world *w, struct model_job *job, const struct job_rec *to, size_t wish,
                   const struct turn_view *view);
/* What the store has of them is what should be there. */
void versions_check(struct world *w, const struct model_job *job);
/* How the job becomes again what this version says, as a client reads it; in the day's arena. */
struct wish versions_wish_back(struct world *w, const struct model_job *job,
                               const struct model_version *to);

/* ---- what should have started (model_deadlines.c) */

/* One step of it; before the model has taken it. */
void deadlines_step(struct world *w, struct model_exec *x, enum exec_event event,
                    const struct turn_view *view);
/* When something has to be said about it next, if it has not started by then; 0: never. */
int64_t model_deadline_ms(const struct world *w, const struct model_exec *x);

/* ---- what comes twice: requests, unique work, effects */

struct model_request *duplicates_request(struct model *m, struct str key);
void duplicates_new_job(struct world *w, const struct wish *wish, uint64_t job_id,
                        const struct turn_view *view);
void duplicates_claim(struct world *w, const struct claim *claim);
/* Answers to submissions: given before, refused for their key, or about work that is there. */
void duplicates_check_replay(struct world *w, const struct submission *item);
void duplicates_check_refusal(struct world *w, const struct submission *item);
void duplicates_check_existing(struct world *w, const struct submission *item);
bool duplicates_was_held(const struct world *w, const struct submission *item);
/* Nobody else has its unique key. */
void duplicates_check_unique(struct world *w, const struct model_exec *x);
/* It has changed in this turn: its success keeps its key, its beginning ends what was kept. */
void duplicates_keep_key(struct world *w, const struct model_exec *x, const struct turn_view *view);
/* Called done only when a lost worker said so, and for good. */
void duplicates_check_effect(struct world *w, struct model_exec *x, const struct exec_rec *to,
                             const struct turn_view *view);

/* ---- what holds work back: pauses, queues, limits */

/* By that moment of the boot clock every server that may decide knows all settings: it has renewed since
 * the newest change. */
bool model_settings_known(const struct world *w, int64_t boot_ms);
/* As somebody decided, or as every queue is before that. */
struct queue_rec model_queue(const struct model *m, struct str name);
size_t model_queue_leases(const struct model *m, struct str name);
struct team_rec model_team(const struct model *m, struct str name);
size_t model_team_leases(const struct model *m, struct str name);
size_t model_key_leases(const struct model *m, struct str key); /* of a concurrency limit */
/* Ready, but it may not start now. */
bool model_is_held(const struct world *w, const struct model_exec *x);
/* In a cluster: homes elsewhere may have to be asked first. */
bool model_needs_permits(const struct world *w, const struct model_exec *x);
bool model_same_limits(const struct world *w, const struct model_exec *a,
                       const struct model_exec *b);
void limits_keep_queue(struct world *w, const struct queue_rec *rec, const struct turn_view *view);
/* Before all else that the turn kept: what goes was not needed. */
void queues_keep(struct world *w, const struct delta *delta, const struct turn_view *view);
/* It has unfinished executions or dead letters, is paused or limited. */
bool model_queue_needed(const struct model *m, struct str name);
/* Something was refused because its queue would be one too many. */
void queues_check_limited(struct world *w);
void limits_keep_team(struct world *w, const struct team_rec *rec);
/* It was granted in this turn, and everything else of the turn is kept. */
void limits_granted(struct world *w, const struct model_exec *x, const struct turn_view *view);

/* ---- alerts */

void tally_check(struct world *w, const struct delta *delta);

void alerts_keep(struct world *w, const struct delta *delta, const struct turn_view *view);

/* ---- targets that are left alone */

void breakers_keep(struct world *w, const struct breaker_rec *rec, const struct turn_view *view);
void breakers_granted(struct world *w, struct model_exec *x, const struct turn_view *view);
/* One of its attempts ended, as it says. */
void breakers_count(struct world *w, const struct model_exec *x,
                    const struct model_attempt *attempt, const struct turn_view *view);
/* Somebody edited the job: what runs is charged to what it was granted for. */
void breakers_edited(struct world *w, const struct model_job *job);
/* Jobs with such rules have one breaker, or none. */
bool breakers_same(const struct rules *a, const struct rules *b);
bool breakers_hold(const struct world *w, const struct model_exec *x);

/* ---- dead letters, and what is too old: model_letters.c */

/* After all that happened to executions in this turn. */
void letters_keep(struct world *w, const struct delta *delta, const struct turn_view *view);
/* An execution is deleted. */
void letters_forget(struct world *w, uint64_t exec_id, const struct turn_view *view);

/* ---- model_operations.c */

#define OPERATOR "key:operator" /* who asks for actions on many, and for nothing else */

void operations_keep(struct world *w, const struct delta *delta, const struct turn_view *view);
/* There is another dead letter. */
void operations_meet(struct world *w, const struct model_exec *x);
/* One that discards such letters is under way. */
bool operations_discard(const struct model *m, const struct model_exec *x);
/* Any is under way. */
bool operations_run(const struct model *m);
/* One of this kind is under way, or was when this turn began. */
bool operations_do(const struct model *m, enum operation_kind kind);
/* Ids of operations that there are; 0: none. */
uint64_t operations_some(const struct model *m, uint64_t dice);
bool operations_know(const struct model *m, uint64_t id);

/* ---- runs that take longer than they should: model_slas.c */

struct trail_step;
/* It took longer than it may, and that ends it. */
bool model_must_stop(const struct model_exec *x);
/* A line of its trail; false when it is not about its SLA. */
bool slas_note(struct world *w, struct model_exec *x, const struct trail_step *step,
               const struct turn_view *view);
/* It is about to take this step. */
void slas_step(struct world *w, struct model_exec *x, enum exec_event event, enum exec_state next,
               const struct turn_view *view);
void slas_keep(struct world *w, const struct delta *delta);
/* No timer is due: everything was told. */
void slas_check(struct world *w, const struct partition_set *owned, int64_t now_ms);

/* ---- failures: model_failures.c */

/* The result in a poll that is about this attempt; NULL: none. */
const struct poll_result *model_result(const struct poll *poll, uint64_t exec_id, uint64_t token);
/* Its attempt has had all its time by now. */
bool model_timed_out(const struct world *w, const struct model_exec *x);
/* An attempt begins, or is sent to its worker once more. */
void failures_begin(struct world *w, struct model_exec *x, const struct turn_view *view);
/* A new owner has loaded its lease. */
void failures_reloaded(struct world *w, struct model_exec *x);
/* A lease ends by this step. */
void failures_step(struct world *w, struct model_exec *x, enum exec_event event,
                   const struct exec_rec *to, const struct turn_view *view);
/* It will be tried again, when it should. */
void failures_wait(struct world *w, struct model_exec *x, const struct exec_rec *to,
                   const struct turn_view *view);
/* An attempt is over: its class is what its worker said, or what follows from how it ended. */
void failures_keep(struct world *w, struct model_exec *x, struct model_attempt *attempt,
                   const struct attempt_rec *rec, const struct turn_view *view);
/* Its state is what its newest attempt made of it, and its counters what has happened. */
void failures_check(struct world *w, const struct model_exec *x);

/* ---- calendars */

bool model_has_calendar(const struct model *m, struct str name);
/* The newest plan as a document. */
struct str calendars_document(const struct model *m, const struct model_plan *plan,
                              struct arena *arena);
void calendars_keep(struct world *w, const struct calendar_change *change);
struct model_ruling model_rule(const struct world *w, const struct model_job *job, int64_t at_ms);
/* One of its calendars was changed in this turn, or the job itself; in a cluster, so short a while ago that the
 * server of this turn may not have heard of it, or it is gone. */
bool model_calendars_unclear(const struct world *w, const struct model_job *job);
bool model_is_held_by_calendar(const struct exec_rec *rec);
/* A step of something that was scheduled. */
void calendars_step(struct world *w, const struct model_exec *x, enum exec_event event,
                    struct str reason, const struct exec_rec *to, const struct turn_view *view);
/* It was held, and need not be any more. */
bool calendars_let_go(const struct world *w, const struct model_exec *x,
                      const struct turn_view *view);
/* After a turn that has looked at all that is held. */
void calendars_check_held(struct world *w, const struct model_exec *x, int64_t now_ms);
/* Jobs that are not over go by it. */
bool calendars_are_needed(const struct world *w, struct str name);
void calendars_check_answer(struct world *w, const struct command *cmd, bool kept_nothing);

/* ---- runs that take longer than usual */

/* True when the step is about that. */
bool pace_note(struct world *w, struct model_exec *x, const struct trail_step *step,
               const struct turn_view *view);
void pace_check(struct world *w, const struct model_exec *x);
