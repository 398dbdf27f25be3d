/* engine.h - the part of belfry that decides.
 *
 * A deterministic state machine in memory: commands and a time go in, records to keep (a delta)
 * and answers to give come out. It knows every unfinished execution that is due soon, the ready
 * queues, the workers and their leases, the timers. It does no I/O, asks no clock, starts no
 * thread and rolls no dice: the same calls in the same order give the same result, which is what
 * the simulator lives on.
 *
 * A turn is: begin; ask (what memory does not hold) until nobody asks any more; decide each
 * command; seal, which gives the delta; then commit or undo. Nothing that a turn decided may be
 * shown to anybody before commit. README.md tells how it is built. */
#pragma once
#include "base/buf.h"
#include "base/when.h"
#include "job/command/command.h"
#include "job/partition.h"
#include "job/record/question.h"

struct engine;

struct engine_options {
    int64_t lease_ms;   /* how long a worker may be silent */
    int64_t park_ms;    /* longest wait of a poll */
    int64_t horizon_ms; /* executions due later than this stay in the store, */
    int64_t near_ms;    /* those due within this are in memory, however many there are, */
    size_t waiting_max; /* and of those in between not many more than this */
    int64_t forget_ms;  /* a worker without leases that was silent this long is forgotten */
    size_t live_max;    /* executions in memory; more submissions are refused as busy */
    size_t lanes_max;   /* distinct (queue, handler) pairs in memory; a submission that needs one
                         * more is refused as busy, what the store holds is loaded all the same */
    size_t queues_max;  /* queues that have work or dead letters, or about which somebody decided
                         * something; what needs one more is refused (RC_LIMITED) */
    int64_t
        queues_keep_ms; /* others are forgotten after this, or for want of room; 0: only for that */
    size_t workers_max; /* registered ones; one more is refused as busy */
    int64_t once_ms;    /* how long a request that was answered is known again */
    int64_t unique_keep_ms; /* how long a unique key is kept after success, where its job does not
                             * say; 0: not at all */
    int64_t point_ms; /* waiting this long is worth a point of priority; more than 0, or priority
                         * would count for nothing */
    struct breaker_rule breaker;
    struct alert_rules alerts;
    size_t edges_max; /* dependencies that wait; a job that would need more is refused as busy */
    size_t calendars_max;      /* a calendar more is refused (RC_LIMITED) */
    size_t silences_max;       /* the same for silences that hold */
    size_t keep_bytes_max;     /* what is submitted, is near, and has a spec and payload up to this
                            * size keeps them in memory; for all else the turn fetches them */
    size_t due_max;            /* timers that one turn handles; the rest comes with the next */
    size_t load_max;           /* executions that one turn loads from beyond the horizon */
    size_t operation_step_max; /* things that one turn takes for an operation */
    size_t operation_per_s;    /* the same for a second in which there is other work; 0: no limit */
    size_t versions_keep;      /* definitions of a job that was edited, the newest ones */
    int64_t letters_keep_ms;   /* dead letters go after this; 0: never */
    int64_t history_keep_ms;   /* the same for what has ended, unless it is a dead letter */
    int64_t alerts_keep_ms;    /* … for alerts, unless they wait for their delivery */
    int64_t tallies_keep_ms;   /* … for the numbers of reports, from the end of their hour on */
    int64_t delete_wait_ms;    /* nothing of all this goes so long after the clock was set far */
    size_t retain_rows_max;    /* that one turn looks at, and perhaps deletes, for that */
    int64_t retain_pause_ms;   /* between two such turns */
    int64_t mail_ms;           /* how often to look into the inbox without being told; 0: never */
    size_t inbox_page;         /* rows of each sort that one turn reads there, … */
    size_t inbox_page_bytes;   /* … and bytes of them, but at least one row */
    int64_t rejected_keep_ms;  /* how long what came through it and could not be made is shown */

    struct trace_rule trace; /* what is said about the traces of executions, and of which */

    int64_t kill_grace_ms;      /* that a worker may take to end a run whose time is over */
    uint32_t lost_max;          /* an execution that lost so many leases is given to nobody else */
    int64_t probation_ms;       /* that a suspect has to be named by its worker: see silence.c */
    int64_t retry_after_max_ms; /* a worker may put off the next attempt by this at most */
    /* Reads the rules out of a stored job. Pure; given from above because parsing JSON is not the
     * engine's business, and neither is finding time zones. The texts of ret_rules may live in
     * arena, but for the zone, which must outlive the engine. */
    enum rc (*read_rules)(void *arg, const struct job_rec *job, struct arena *arena,
                          struct rules *ret_rules, struct err *err);
    /* The same for calendars: the times that a document means. Needed once there is one. */
    enum rc (*read_calendar)(void *arg, const struct calendar_rec *calendar, struct arena *arena,
                             struct almanac *ret_almanac, struct err *err);
    /* The same for a job that came through the inbox (INBOX_SUBMIT): the answer of POST /jobs to
     * it. Needed where mail_ms is set. RC_INVALID and the like: it is rejected with that reason. */
    enum rc (*read_submission)(void *arg, const struct inbox_rec *rec, struct arena *arena,
                               struct submission *ret_item, struct err *err);
    void *rules_arg; /* of all three */
    /* For whoever reads submissions: the timeout of those that say none (0: none), the largest
     * payload and document (0: no limit). */
    int64_t timeout_default_ms;
    size_t payload_bytes_max;
    size_t document_bytes_max;
};

extern const struct engine_options engine_defaults; /* without read_rules */

struct engine *engine_new(const struct engine_options *options);
void engine_free(struct engine *e);

/* ---- loading: before the first turn, or after a reload with a new engine */

/* Decides about what is in these partitions, and about nothing else. Ids will be larger than
 * id_floor, turns larger than turn_floor. Everything due until the returned moment must then be
 * loaded. */
int64_t engine_load_begin(struct engine *e, struct moment now, struct partition_set owned,
                          uint64_t id_floor, uint64_t turn_floor);
/* Behind engine_load_begin, in a cluster: under which epochs it decides, and how long leases that
 * no worker names may still be alive, by the boot clock (see `struct ownership`). Each has an entry
 * for every partition. */
void engine_load_terms(struct engine *e, const uint64_t *epochs, const int64_t *unsure_until_ms,
                       const int64_t *alive_ms);
/* Tokens of leases will be larger than this. */
void engine_load_tokens(struct engine *e, uint64_t token_floor);
/* The store has lost so many turns, and what is loaded is what it has left: the first turn that is
 * kept raises an alert. */
void engine_note_lost(struct engine *e, uint64_t turns);
uint64_t engine_lost_turns(const struct engine *e); /* of which nobody was told yet */
/* So many timers are handled in a turn from now on; returns how many were until now (and with
 * SIZE_MAX leaves it at that). */
size_t engine_limit_due(struct engine *e, size_t max);
/* Before the jobs, and again between turns when another server may have changed one. One that makes
 * no sense holds what goes by it until somebody puts another. */
enum rc engine_load_calendar(struct engine *e, const struct calendar_rec *calendar,
                             struct err *err);
/* Before its executions; one that is there already stays as it is. */
enum rc engine_load_job(struct engine *e, const struct job_rec *job, struct err *err);
/* Its job comes first. A lease gets a full term from now, or until it cannot be alive any more. */
enum rc engine_load_exec(struct engine *e, const struct exec_rec *exec, struct err *err);
/* Before the executions: a lease finds its worker when it is loaded. */
void engine_load_worker(struct engine *e, const struct worker_rec *worker);
void engine_load_counter(struct engine *e, const struct counter *counter);
/* Before the executions, too; and again between turns, each taking the place of what is known. */
void engine_load_queue(struct engine *e, const struct queue_rec *rec);
void engine_load_team(struct engine *e, const struct team_rec *rec);
/* The same for a worker that is cordoned, whoever owns its record. */
void engine_load_cordon(struct engine *e, const struct worker_rec *rec);
void engine_load_silence(struct engine *e, const struct silence_rec *rec);
/* Between turns: all settings are about to be read again, and have been. A calendar or a silence
 * that was not among them is gone: another server has deleted it; and so are the cordon of its
 * worker and what was decided about a queue or a team. */
void engine_settings_begin(struct engine *e);
void engine_settings_end(struct engine *e);
void engine_load_rate(struct engine *e, const struct rate_rec *rec);
void engine_load_breaker(struct engine *e, const struct breaker_rec *rec);
/* The moment that deletions wait behind. */
void engine_load_clock(struct engine *e, const struct clock_rec *rec);
/* In the order of their ids. */
void engine_load_operation(struct engine *e, const struct operation_rec *rec);
/* Before the executions: the permits that limits whose home is ours have granted elsewhere. */
void engine_load_permit(struct engine *e, const struct permit_rec *rec);
/* After the executions. One that does not wait, or whose dependant is not there, is passed over. */
void engine_load_dependency(struct engine *e, const struct dependency_rec *rec);
/* An execution elsewhere that waits for a job of ours. */
void engine_load_waiter(struct engine *e, const struct waiter_rec *rec);
/* After all of that, before the first turn: `former` decided in this server until now. Leases of
 * partitions whose epoch is the same in both go on as they are, since nobody else can have given
 * them away: they end when they would have ended, and what is known about them stays known. */
void engine_inherit(struct engine *newer, const struct engine *former);

/* ---- a turn */

/* Starts a turn. Dues go by the wall clock, and steps.c tells what an accepted step moves; leases,
 * parked polls and forgetting go by the boot clock. All that the turn makes lives in arena until
 * the turn is over. */
void engine_begin(struct engine *e, struct moment now, struct arena *arena);

/* Asks what must be known before the command can be decided: adds to the list (in the turn's
 * arena). Round 0 asks first; further rounds, with the answers filled in, may ask what follows from
 * them; a round without questions ends the asking. */
struct question_list {
    struct question **items;
    size_t len;
    size_t cap;
};
void engine_ask(struct engine *e, struct command *cmd, unsigned round, struct question_list *list);
/* The engine's own questions, in the same rounds: executions that are due behind the horizon,
 * records that are too old, and what an operation goes on with. Before those of the commands. */
void engine_ask_own(struct engine *e, unsigned round, struct question_list *list);

/* The server was told that there is mail in the inbox: the next turn looks. Between turns. */
void engine_mail(struct engine *e);

/* The last turn, which was undone, cannot be kept, and perhaps for what it read: the next one reads
 * less, down to one row, and when that one alone is it, rejects it for this reason. False: mail was
 * not it, or not alone, and nothing is rejected. Between turns. */
bool engine_mail_doubt(struct engine *e, const char *why);

/* Turns read no mail as long as it is held. Between turns. */
void engine_hold_mail(struct engine *e, bool held);

/* The last turn, which was undone, cannot be kept, and perhaps for what an operation did in it: the
 * next one does less, down to one thing, and when that one alone is it, the operation is told that
 * it was refused, and goes on behind it. False: it was not that. Between turns. */
bool engine_operation_doubt(struct engine *e, const char *why);

/* Operations stand still as long as they are held. Between turns. */
void engine_hold_operations(struct engine *e, bool held);

/* The last turn looked for what is too old to be kept. */
bool engine_looked_for_old(const struct engine *e);
/* Turns do not, as long as it is held. Between turns. */
void engine_hold_old(struct engine *e, bool held);
/* Old rows cannot be deleted: for a while it is not tried. Between turns. */
void engine_put_off_old(struct engine *e);

/* The newest turn could not be kept and was undone. If it read mail, that may have been too much
 * for one turn: the next one asks for half of it; from then on pages grow again. Between turns. */
void engine_mail_lost(struct engine *e);

/* Rows of the inbox that stay there, as of the last commit. */
struct mail_waiting {
    size_t waiting;  /* submissions for which there is no room now … */
    const char *why; /* … and why one of them has to wait; lives as long as the engine */
    size_t unknown;  /* of kinds that only a newer version knows */
};
struct mail_waiting engine_mail_waiting(const struct engine *e);

/* Lets the time pass: timers that are due, and what engine_ask_own found. Before the commands. */
void engine_tick(struct engine *e);
void engine_decide(struct engine *e, struct command *cmd);

/* Gives ready work to waiting workers, parks the rest, and says what must be kept. */
const struct delta *engine_seal(struct engine *e);

/* Of a turn that is sealed and kept, before engine_commit: the executions that ended in it whose
 * spans are wanted (engine_options.trace). */
const struct ended_trace *engine_ended(const struct engine *e, size_t *ret_count);

/* The turn is durable: forgets how it was before. Commands that are answered move to ret_done,
 * what happened to ret_events (both valid until the next begin). */
void engine_commit(struct engine *e, struct list *ret_done, const struct event **ret_events,
                   size_t *ret_event_count);
/* The turn did not happen: everything is as it was before begin, and the same commands may be
 * decided again. Ids that were used are not used again. */
void engine_undo(struct engine *e);

/* ---- while this server may not decide
 *
 * Another server may own the partitions of this one without its knowledge. It says nothing then
 * that could end a run; all it can do for a worker is to keep alive what it knows to be the
 * worker's. */

/* Answers a poll provisionally: names the leases that memory has under its worker and token, which
 * are renewed from now, and no others. Never an error. The command must not be known to the engine,
 * and its answer may be sent at once. Between turns, and also between seal and commit or undo: then
 * only what the turn, if it is kept, leaves to the worker, and the renewal holds whatever becomes
 * of the turn. Works on an engine that another has taken the place of, too. */
void engine_answer_kept(struct engine *e, struct command *cmd, struct moment now);

/* Partitions with leases that nobody has named and that must be waited for longer than a plain term
 * (of which the newest turn is the beginning). Between turns. */
uint64_t engine_unsure(const struct engine *e);

/* ---- while the store takes nothing
 *
 * A healthy run must not die because a disk is full: its renewals are kept in memory only. Such a
 * turn is: begin, engine_outage, decide (what works in an outage, by its facts), seal, commit; it
 * asks nothing and its delta is empty. Polls renew what they name, are parked and answered, but get
 * no work; results they carry get no verdict, so their worker repeats them, and their leases are
 * renewed, too. Timers (ends of leases, dues) wait for a turn that can be kept. In a cluster the
 * answers are provisional, as those of engine_answer_kept. */

/* Makes the turn that has begun such a turn, and answers the parked polls whose time is over. */
void engine_outage(struct engine *e);

/* Forgets an execution that the store knows otherwise, or not at all: no worker will be given it,
 * and its holder is told to stop. Between turns. False when it is not in memory. */
bool engine_drop(struct engine *e, uint64_t exec_id);

/* Everything that goes by `old` goes by `newer` from the next turn on: a zone got other rules.
 * Slots that are ahead move with them. Both zones must outlive the engine. Between turns. */
void engine_renew_zone(struct engine *e, const struct zone *old, const struct zone *newer);

/* ---- waiting */

/* How long until the engine wants its next turn even without commands: for a timer, or to look
 * beyond the horizon. 0: at once. Ask again when the wall clock was set. */
int64_t engine_wait_ms(const struct engine *e, struct moment now);

/* ---- looking */

/* From which moment on something may be deleted for being old; INT64_MAX: that is not known yet. */
int64_t engine_deletes_from_ms(const struct engine *e);

/* The newest numbers that it has given out. An engine that takes its place in the same server needs
 * them as its floors: those that the store gave when partitions were taken are older. */
void engine_floors(const struct engine *e, uint64_t *ret_id, uint64_t *ret_turn);

size_t engine_live_count(const struct engine *e);

/* Everything it holds as text, the same for the same state: values and places, sorted by id. For
 * tests and for people who look for a bug. */
void engine_dump(const struct engine *e, struct buf *out);

/* Takes all parked polls out into ret_parked, to be answered with nothing: for shutting down, and
 * when a store is back whose absence they waited out. */
void engine_unpark(struct engine *e, struct list *ret_parked);
