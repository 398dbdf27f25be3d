/* turn.h - all that belongs to one turn. engine_begin resets it by one assignment; commit and undo
 * end it by taking the arena away. Nothing here outlives the turn but what a store error may still
 * ask about (mail.reading). */
#pragma once
#include "base/vec.h"
#include "engine/core/alerts.h"
#include "engine/core/letters.h"
#include "engine/core/load.h"
#include "engine/core/mail.h"
#include "engine/core/operations.h"
#include "engine/core/retention.h"
#include "engine/core/silences.h"
#include "engine/core/undo.h"
#include "engine/depend/depends.h"
#include "engine/depend/depends_slots.h"
#include "engine/time/slow_runs.h"
#include "engine/time/steps.h"
#include "engine/time/tzdata.h"

/* Values of the engine itself as they were when the turn began: undo puts them back. */
struct turn_before {
    struct clock_values clock;
    int64_t newest_ready_ms;
    struct horizon horizon;
    uint32_t bucket;
    struct retain retain;
    struct post post;
    uint32_t calendar_changes;
    struct operation_pace pace;
};

struct turn_alerts {
    VEC(struct alert_rec) raised;
    VEC(struct alert_mark) marks;
    VEC(struct alert_ack) acks;
    VEC(uint64_t) gone;             /* too old */
    VEC(struct alert_mute *) muted; /* keys that this turn raised */
    bool looks;                     /* this turn looked at queues, … */
    int64_t look_next_ms;           /* … and when to look again */
};

struct turn_mail {
    struct mail_read reading;
    VEC(struct inbox_rec) sent;
    VEC(uint64_t) read; /* ids of rows that were acted upon */
    VEC(struct left_row) stays;
    VEC(uint64_t) went; /* ids of rows that had waited, and are done or not there any more */
    VEC(struct rejected_rec) rejected;
};

struct engine_turn {
    struct arena *arena;           /* NULL: no turn is under way */
    bool away;                     /* the store takes nothing: see outage.c */
    bool sealed;                   /* the delta is made: nothing more is decided */
    bool keys_passed;              /* unique keys went to others than the store says */
    size_t due_left;               /* timers and slots that this turn may still decide about */
    struct question *due_question; /* NULL: not asked in this turn */
    struct question *far_question; /* NULL: not asked in this turn */
    struct clock_rec clock_rec;    /* for the delta */
    struct turn_before before;
    struct retain_asked old;
    struct operation_step step;
    struct list_node *idle_next; /* where to go on looking for idle queues; NULL: in front */
    struct list open;            /* workers with a poll in this turn */
    struct list done;            /* answered commands */
    struct list changed_queues;  /* queue.changed */
    VEC(struct touched *) touched;
    VEC(struct attempt_rec) attempts;
    VEC(struct claim) released;
    VEC(struct claim) claims; /* added or replaced */
    VEC(struct gone_letter) letters_gone;
    VEC(uint64_t) operations_gone;
    VEC(struct version_change) versions;
    VEC(uint64_t) forgotten; /* ended executions that are too old */
    struct past past;        /* where they were looked for */
    VEC(uint64_t) stays;     /* executions that were found there and are not too old */
    VEC(struct event) events;
    VEC(struct ended_trace) traces; /* of executions that ended */
    struct turn_alerts alerts;
    struct turn_silences silences;
    VEC(struct sla_event_rec) sla_events;
    VEC(struct ended) ended;              /* empty but while dependants are told */
    VEC(struct definition *) passed_over; /* by a second edit: neither before the turn nor after */
    VEC(struct slot_asked) slots_asked;
    VEC(struct slow_runs_asked) paces_asked;
    VEC(struct calendar_use) calendar_uses;
    struct turn_mail mail;
    VEC(struct permit_change) permit_changes; /* of executions whose home is ours, too */
    struct delta delta;
};
