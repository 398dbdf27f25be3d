/* internal.h - what the engine's own files call of one another; nobody else includes it. What they
 * call it with is in model.h. */
#pragma once
#include "base/plant.h"
#include "engine/core/model.h"

#define SERVER STR("server") /* the actor when nobody asked */
/* Why something is deduplicated. */
#define DONE_BEFORE STR("an attempt whose lease had ended reported that the work is done")

/* ---- undo.c: before-images, undo, and what they imply */

struct touched *touch_job(struct engine *e, struct job *job);
struct touched *touch_exec(struct engine *e, struct exec *x);
struct touched *touch_worker(struct engine *e, struct worker *w);
struct touched *touch_queue(struct engine *e, struct queue *q);
struct touched *touch_limit(struct engine *e, struct limit *limit);
struct touched *touch_breaker(struct engine *e, struct breaker *b);
struct touched *touch_edge(struct engine *e, struct edge *edge);
struct touched *touch_operation(struct engine *e, struct operation *op);
struct touched *touch_calendar(struct engine *e, struct named_calendar *calendar);
struct touched *touch_permit(struct engine *e, struct permit *p);
/* The same for a thing that came into memory in this turn: made, or, when stored, read. */
struct touched *touch_new(struct engine *e, enum thing thing, void *ptr, bool stored);

/* ---- queues.c: what holds work back */

struct queue *queue_new(struct engine *e, struct str name);
/* The same text, for as long as the engine lives. */
const struct str *name_keep(struct engine *e, struct str name);
/* Its lane is one of this queue, and open or closed as the queue is. */
void queue_join(struct engine *e, struct queue *q, struct lane *lane);
/* Gives it these values, and opens or closes its lanes. */
void queue_set(struct engine *e, struct queue *q, const struct queue_values *to);
/* Permits of its limit that are no leases of ours: so many more, or fewer. */
void queue_lend(struct engine *e, struct queue *q, int by);
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
/* Somebody decided about it, or there was a job in it. */
bool queue_is_known(const struct queue *q);
/* For those who watch. */
void queue_tell(struct engine *e, const struct queue *q, enum queue_event event, struct str actor);

/* ---- forget.c: queues come with their work and go when nobody needs them */

/* NULL: there is none, or this turn has forgotten it. */
struct queue *queue_find(const struct engine *e, struct str name);
/* Made when new. Whoever keeps it uses it, and leaves it when done: one that no commit knows is gone with
 * its last user. */
struct queue *queue_of(struct engine *e, struct str name);
struct queue *queue_use(struct engine *e, struct str name);
void queue_leave(struct engine *e, struct queue *q);
/* RC_LIMITED: it would be one more than queues_max, and each of the others is needed. May forget one that
 * is not. */
enum rc queue_admit(struct engine *e, struct str name, struct err *err);
/* Its numbers or settings are those of a commit, or were loaded: it may be idle now, or not any more. */
void queue_look(struct engine *e, struct queue *q);
/* In a turn: those that were idle for long go, a page of them. */
void queues_step(struct engine *e);
int64_t queues_wait_ms(const struct engine *e, int64_t boot_ms);
/* Numbers of what goes with this turn. */
void numbers_add(struct numbers *to, const struct numbers *add);
void queue_commit(struct engine *e, struct queue *q);
void queue_undone(struct engine *e, struct queue *q);
void queues_bury(struct engine *e);
/* Between turns: all settings have been read. A queue that has some, and was not among them, has none any
 * more: another server has deleted them. */
void queues_read(struct engine *e);
/* Somebody wants it to go; a server that was told by another that it went forgets its own part. */
void ask_delete_queue(struct engine *e, struct command *cmd, struct question_list *list);
void delete_queue(struct engine *e, struct command *cmd);

struct move;

/* ---- breakers.c: targets that keep failing */

/* A lease of the execution begins: it may be a probe. */
void breaker_started(struct engine *e, const struct exec *x);
/* A lease of the execution ended by this move, or a late success came in; recharged: as it was before. */
void breaker_heard(struct engine *e, const struct exec *x, const struct move *move, bool recharged);
/* The job has another definition: what runs stays charged to the target that it was started for. */
void breaker_edited(struct engine *e, struct job *job, const struct definition *old);
/* What a lease is charged to that its job does not name any more, empty: none; NULL: its job's. Kept by the number
 * of its execution until that has gone, or a turn in which its lease ended. */
const struct str *charge_of(const struct engine *e, const struct exec *x);
void charge_keep(struct engine *e, struct exec *x, struct str target);
void charge_drop(struct engine *e, const struct exec *x);
/* Its rest is over, or it is to be forgotten. */
void breaker_wake(struct engine *e, struct breaker *b);
/* The clock was set: breakers that are not closed move as runs do, so that a run still began before
 * or after one opened. */
void breakers_step(struct engine *e, int64_t by_ms);
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
/* It has not started when it should have; why, in words. */
void alert_start_late(struct engine *e, const struct exec *x, struct str why);
/* The store has lost turns, as e->lost_turns says; and that it must have, since the worker was given a lease of
 * x with this token, which nobody here knows of. The next token of x will be larger. */
void alert_turns_lost(struct engine *e);
void alert_token_unknown(struct engine *e, const struct worker *w, struct exec *x, uint64_t token);
/* It takes much longer than usual; "has run for …". */
void alert_slow(struct engine *e, const struct exec *x, struct str why);
void alert_clock(struct engine *e, struct str what);
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
/* The same for what somebody wants: NULL with err when there are as many queues (RC_LIMITED) or lanes
 * (RC_BUSY) as may be. */
struct definition *definition_wanted(struct engine *e, const struct job_rec *rec,
                                     const struct rules *rules, struct err *err);
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
/* By id, for what was found by walking a map. */
void execs_sort(struct exec **execs, size_t count);
void exec_free(struct engine *e, struct exec *x);
void exec_place(struct engine *e, struct exec *x);
void exec_unplace(struct engine *e, struct exec *x);
/* Puts a lease among those of its worker. */
void lease_place(struct worker *w, struct exec *x);
/* Where it stands while it is ready. */
struct track *exec_track(struct engine *e, const struct exec *x);
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
    bool reported;          /* its worker has told how it ended */
    bool blameless;         /* a failure that says nothing about what it calls */
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
/* Its limit had passed by then, or nobody can say. */
bool sla_was_over(const struct exec *x, int64_t wall_ms);
/* Why it was stopped. */
struct str sla_error(struct engine *e, const struct exec *x);
void decide_extend_sla(struct engine *e, struct command *cmd);

/* When the next limit that nobody was told of comes, while it runs; 0: never. */
int64_t sla_next_ms(const struct exec *x);

/* ---- slow_runs.c: runs that take much longer than usual */

/* It may turn out to be slow, as far as anybody knows. */
bool slow_runs_watches(const struct engine *e, const struct exec *x);
/* When to look at it next; 0: never. */
int64_t pace_next_ms(const struct engine *e, const struct exec *x);
/* That moment has come. */
void slow_runs_due(struct engine *e, struct exec *x);
/* Asks what is usual for some of those that are to be looked at, and takes the answers. */
void slow_runs_ask(struct engine *e, struct question_list *list);
void slow_runs_answer(struct engine *e);

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
/* It is elsewhere. */
bool slot_strays(const struct engine *e, const struct exec *x);
/* The clock was set back by so much (a negative number): where the slot before the one that is ahead lies in
 * the future, too, the next one by the clock as it is now takes its place. */
void slot_step_back(struct engine *e, struct exec *x, int64_t by_ms, struct str reason);
/* The same where nobody knows any more what clock it was planned by, for a slot whose predecessor lies ahead by
 * more than that: whoever was set back by less has run the slots in between. */
void slot_return(struct engine *e, struct exec *x, int64_t far_ms, struct str reason);
/* The slot ahead is the next one by the clock as it is now. */
void slot_plan_from_now(struct engine *e, struct exec *x, struct str reason);
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

/* ---- tzdata.c: zones with other rules */

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
/* x is for another moment: what it waits for, or who waits for its slot, has to be found anew. */
void depends_moved(struct engine *e, struct exec *x);
void depends_slot_moved(struct engine *e, const struct exec *x);
/* x waits by this rule, and asks for which slot. */
void depends_ask_for(struct engine *e, struct exec *x, struct edge *rule);
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
/* A job that runs once is due once: then its rule is settled when it is known what it comes to. Of one that
 * recurs it is when it is met for good, since its upstream runs once and is over. */
void depends_settle_rule(struct engine *e, const struct exec *x, struct edge *rule,
                         enum dependency_state state, bool for_good);
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

/* The job is decided about elsewhere. */
bool depends_is_remote(const struct engine *e, uint64_t job_id);
/* The execution of the edge is: its id, and the moment that its slot counts from. */
uint64_t edge_exec_id(const struct edge *edge);
int64_t edge_slot_ms(const struct edge *edge);
struct waiter_change waiter_changed(const struct edge *edge);

/* ---- depends_replan.c: another moment for a job that runs once */

/* An edit is to plan it anew: asks which of its dependencies are met, … */
void depends_ask_met(struct engine *e, struct command *cmd, struct question_list *list);
/* … and makes all its rules count for the moment that x has now. */
void depends_replanned(struct engine *e, const struct command *cmd, struct exec *x);

/* ---- depends_remote.c: the same between partitions */

/* The edge of an execution elsewhere that waits for a job of ours; NULL: there is none. A new one asks
 * first how the upstream stands. */
struct edge *waiter_find(struct engine *e, uint64_t upstream, uint64_t exec_id);
struct edge *waiter_new(struct engine *e, const struct waiter_rec *rec);

/* Tells the upstream's owner that the edge waits, or that it does not any more. */
void remote_wait(struct engine *e, const struct edge *edge);
void remote_unwait(struct engine *e, const struct edge *edge);
/* Tells who waits elsewhere what it came to. */
void remote_over(struct engine *e, const struct edge *edge, const struct ended *ended);
/* What these three say to us. */
void heard_wait(struct engine *e, const struct inbox_rec *rec);
void heard_unwait(struct engine *e, const struct inbox_rec *rec);
void heard_over(struct engine *e, const struct inbox_rec *rec);

/* ---- mail.c: what partitions tell each other */

/* A row to be sent with this turn's commit; the caller fills in the rest. */
struct inbox_rec *mail_send(struct engine *e, enum inbox_kind kind, uint32_t bucket);
void mail_begin(struct engine *e);
void mail_undo(struct engine *e);
void mail_ask(struct engine *e, unsigned round, struct question_list *list);
/* Acts upon what was asked for. */
void mail_step(struct engine *e);
void mail_commit(struct engine *e);
/* ---- mail_act.c */
void mail_prepare(struct engine *e, struct mail_row *row);
enum mail_fate mail_act(struct engine *e, struct mail_row *row);
int64_t mail_wait_ms(const struct engine *e, int64_t boot_ms);

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

/* ---- submit.c: new jobs */

#define TOO_MANY_LIVE "the server holds as many unfinished jobs as it may"

enum rc name_taken(struct err *err, struct str name, uint64_t holder);
/* When the only run of a job that does not recur is due, now_ms at the earliest. */
int64_t submission_due_ms(const struct submission *item, int64_t now_ms);
/* Gives a claim back that was taken in this very transaction, for nothing. */
void give_back(struct engine *e, const struct question *q);
void ask_submit(struct engine *e, struct command *cmd, unsigned round, struct question_list *list);
void decide_submit(struct engine *e, struct command *cmd);

/* ---- jobs.c: cancel, pause, run now, run again */

void decide_cancel_job(struct engine *e, struct command *cmd);
void decide_cancel_exec(struct engine *e, struct command *cmd);
void decide_retry(struct engine *e, struct command *cmd);
void decide_pause(struct engine *e, struct command *cmd);
void decide_resume(struct engine *e, struct command *cmd);
void decide_trigger(struct engine *e, struct command *cmd);
void ask_target(struct engine *e, struct command *cmd, unsigned round, struct question_list *list);
/* The job has ended: the command fails. */
bool refuse_over(struct engine *e, struct command *cmd, const struct job *job);
/* What is unfinished of a job in memory is all there, but perhaps for the slot ahead, which may lie
 * beyond the horizon: it is there, too (or the schedule is at its end, which memory cannot tell). */
bool job_is_whole(const struct job *job);
/* The job that the command is about: the one in memory when nothing had to be asked, else adopt_answer. */
struct job *target_job(struct engine *e, struct command *cmd);
/* Takes over the job and the unfinished executions that the store answered with. NULL: there is no
 * such thing, or it makes no sense, and the command has failed. */
struct job *adopt_answer(struct engine *e, struct command *cmd);

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
/* One that asked and is not decided in this turn: the name and the key that it took go back. */
void retry_forgo(struct engine *e, const struct command *cmd);
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

/* ---- retention.c: what is too old */

void retain_ask(struct engine *e, struct question_list *list);
void retain_step(struct engine *e);
int64_t retain_wait_ms(const struct engine *e, struct moment now);

/* ---- steps.c */

void steps_load(struct engine *e, struct moment now, uint64_t newest_id);
/* Begins with a step that the moment tells of, or goes on with it. Before all that goes by the wall clock. */
void steps_tick(struct engine *e);
void steps_ask(struct engine *e, struct question_list *list);
/* The moment by the clock as it is set now; 0, which is none, stays 0. */
int64_t step_moved_ms(int64_t at_ms, int64_t by_ms);
/* Nothing comes due by the wall clock. */
bool steps_hold_dues(const struct engine *e);
/* Nothing is too late by it: what waits may have yet to move with it. */
bool steps_hold_deadlines(const struct engine *e);
/* Nothing is old enough to go. */
bool steps_hold_deletions(const struct engine *e);
bool steps_want_turn(const struct engine *e, struct moment now);
/* The time is that of a step which has yet to be carried out: what begins now must not move with it. */
bool steps_pending(const struct engine *e);

/* ---- idempotency.c: requests that come again */

/* Asks for the key of a command that is no submission, and for that of one submission. */
void idempotency_ask(struct engine *e, struct command *cmd, struct question_list *list);
void idempotency_ask_item(struct engine *e, struct command *cmd, struct submission *item,
                          struct question_list *list);
/* Asks about the job that was made the first time: others of its batch may wait for it. */
void idempotency_ask_original(struct engine *e, struct command *cmd, struct submission *item,
                              struct question_list *list);
/* By the answer: somebody asked for the same before, so nothing is to be decided. */
bool idempotency_was_asked(const struct once *once);
/* True when the command is to be decided. False: it has its answer, the first one again or a
 * refusal. And after it was decided: remembers the answer, or gives the key back. */
bool idempotency_begin(struct engine *e, struct command *cmd);
void idempotency_end(struct engine *e, struct command *cmd);
/* The same for one submission of a command. */
bool idempotency_begin_item(struct engine *e, struct command *cmd, struct submission *item);
void idempotency_end_item(struct engine *e, struct submission *item);

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
/* The key is held by a job in a partition of another server; and what becomes of a submission then:
 * RC_OK with item->existing, or a refusal, which is RC_DEPOSED when that server has to decide. */
bool unique_is_elsewhere(const struct engine *e, const struct unique_asked *asked);
enum rc unique_meet_elsewhere(struct submission *item, struct err *err);
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

/* Asks for the worker that is said to be dead. */
void ask_of_hello(struct engine *e, struct command *cmd, struct question_list *list);
void decide_register(struct engine *e, struct command *cmd);
/* Asks for the worker when another server has registered it, and about its results. */
void ask_of_poll(struct engine *e, struct command *cmd, struct question_list *list);
void decide_poll(struct engine *e, struct command *cmd);
/* What every reply says, and nothing else. */
struct poll_reply plain_reply(const struct engine *e, const struct worker *w);
void decide_hangup(struct engine *e, struct command *cmd);
void decide_drain(struct engine *e, struct command *cmd);
struct worker *worker_new(struct engine *e, const struct worker_rec *rec);
void worker_free(struct engine *e, struct worker *w);
/* Its leases may have been loaded before it was known. */
void worker_adopt(struct engine *e, struct worker *w);
/* It leaves memory in the middle of its leases: it was found in a turn that did not happen. */
void worker_disown(struct engine *e, struct worker *w);
void worker_place(struct engine *e, struct worker *w);
void worker_unplace(struct engine *e, struct worker *w);
/* Its term is over: answers the poll that was parked, or forgets the worker. */
void worker_wake(struct engine *e, struct worker *w);
/* The poll that waits from now on (NULL: none does) and when to look after the worker. */
void worker_set_parked(struct engine *e, struct worker *w, struct command *cmd, int64_t wake_ms);
/* Takes the parked poll back into the turn, so that it can be answered. */
void worker_open(struct engine *e, struct worker *w);
struct worker_rec worker_record(const struct worker *w);
struct str worker_boot_id(const struct worker *w);
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
/* What the end of a lease without a word says about its execution. */
enum blame {
    BLAME_NONE,   /* it never began, as far as anybody knows */
    BLAME_OTHER,  /* something else that was on the worker */
    BLAME_UNSEEN, /* its worker is gone, and perhaps because of it */
    BLAME_LOST,   /* its worker is gone, and it was on probation */
};
/* The lease is over without a word. The blame counts where nobody has confirmed it. */
void report_silence(struct engine *e, struct exec *x, struct str reason, enum blame blame);

/* ---- grant.c: work meets workers */

void grant_all(struct engine *e);
/* Sends a lease that got lost on its way once more, good for a full term from now. */
void grant_again(struct engine *e, struct worker *w, struct exec *x);
/* Answers the polls of this turn that have something to hear, and parks the others. */
void polls_close(struct engine *e);

/* ---- outage.c: while the store takes nothing */

/* Leases whose results cannot be taken now are renewed: their worker is there. */
void outage_renew(struct engine *e, const struct worker *w, const struct poll *poll);

/* ---- make_delta.c */

void make_delta(struct engine *e);

/* The command has its answer. */
void command_done(struct engine *e, struct command *cmd);
enum rc command_fail(struct engine *e, struct command *cmd, enum rc rc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
struct question *command_ask(struct engine *e, struct command *cmd, struct question_list *list);
/* A question beside those that the command counts. */
struct question *ask_apart(struct engine *e, struct command *cmd, struct question_list *list);
