/* membership_inside.h - the parts of a membership, for the two files that it is made of: the
 * member's own thread (membership.c) and the answers that it gives to all others
 * (membership_answers.c). */
#pragma once
#include "loop/mailbox.h"
#include "loop/thread.h"
#include "server/cluster/cluster_map.h"
#include "server/cluster/heirs.h"
#include "server/cluster/membership.h"
#include "server/cluster/timekeeper.h"

#include <pthread.h>
#include <stdatomic.h>

struct membership {
    struct member *member;       /* owned */
    struct incidents *incidents; /* borrowed; NULL: nobody takes notes */
    struct node_rec me;
    struct arena texts; /* of me */
    int64_t lease_ms;
    struct thread *thread;
    struct mailbox *box;
    struct mail wake;
    atomic_bool waking;

    /* of the thread */
    struct ownership own;
    uint64_t giving;    /* the decider is asked to stop deciding about these, … */
    struct heirs heirs; /* … which these servers wait for */
    int64_t sent_ms;    /* the newest good renewal; boot clock */
    int64_t back_ms;    /* the newest gap ended then; 0: there was none */
    struct time_rules time_rules;
    struct timekeeper time;
    int64_t leader_ms; /* the beat of the first partition's owner that was looked at last */
    bool knows_time;
    int64_t namesake_ms; /* the newest beat of another server of our name, when we came, … */
    int64_t namesake_since_ms; /* … since when it is that, by our boot clock, … */
    int64_t lapsed_ms;         /* … and that beat again, once it is the last one; 0: it is not */
    unsigned beats;
    bool losing;  /* the last one failed, and somebody was told */
    bool had_gap; /* for so long that others may have forgotten us */

    struct cluster_map cluster_map;

    pthread_mutex_t lock; /* of what follows, and of me.address; held for copies only */
    struct membership_events events;
    struct ownership posted;
    struct ownership held; /* the same with what is to be given, and was not when it was posted */
    uint64_t unsure;       /* bits: partitions of posted that may have unconfirmed leases */

    atomic_uint_least64_t serial; /* of posted */
    atomic_uint_least64_t obeyed;
    atomic_uint_least64_t owned_bits; /* of posted */
    atomic_uint_least64_t doubts;
    atomic_uint_least64_t cleared;
    atomic_uint_least64_t settings_version;
    atomic_uint_least64_t lost_turns;    /* that the decider has not heard of */
    atomic_int_least64_t until_ms;       /* boot clock: no decision from then on, */
    atomic_int_least64_t grace_until_ms; /* and no lease is kept alive from then on */
    atomic_bool draining;
    atomic_bool deposed; /* others took what we had; over when we have something again */
    atomic_bool failed;
};

static inline uint64_t membership_bit(size_t p)
{
    return UINT64_C(1) << p;
}

/* Our row as it is now: the address comes once we serve. Its texts live as long as we do. */
struct node_rec membership_record(struct membership *m);
