/* plant.h - bugs on purpose.
 *
 * A simulator that finds nothing proves nothing until it has been seen to find something. Each name
 * below is a bug that somebody could write; `if (PLANTED(name))` stands where it would be. The
 * simulator's own build for this (`make sim-plants`) can switch on one at a time and must be seen
 * to catch each. In every other build PLANTED is the constant 0, and nothing of it is in the
 * program. */
#pragma once

#ifdef BELFRY_PLANTS

/* name, what is wrong with it */
#define PLANTS(X)                                                                                  \
    X(publish_before_commit, "answers leave before the commit")                                    \
    X(ack_before_durable, "a commit on a full disk is taken for kept")                             \
    X(unknown_taken_for_lost, "an unknown commit is tried again without settling it")              \
    X(unknown_taken_for_kept, "an unknown commit is taken for kept without settling it")           \
    X(epoch_unchecked, "the store does not check the epoch")                                       \
    X(token_not_raised, "a grant carries the token of the one before")                             \
    X(old_token_accepted, "a result is accepted with any token")                                   \
    X(image_forgets_field, "undo forgets one field of an execution")                               \
    X(undo_forgets_parked, "undo forgets a poll that was parked")                                  \
    X(stopping_given_away, "a cancelled run is over before its worker says so")                    \
    X(repeated_poll_grants_twice, "a repeated poll is granted new work on top of the old")         \
    X(report_after_cancel, "a cancelled run may still succeed")                                    \
    X(cancelled_as_completed, "a run that was stopped ends as completed")                          \
    X(horizon_loses_timer, "what a full page leaves behind the horizon is never loaded")           \
    X(slot_leaks, "a lease that was lost on its way stays with its worker")                        \
    X(order_lost_on_requeue, "what comes back to its lane has lost its priority")                  \
    X(claim_outlives_refusal, "a refused job keeps its name")                                      \
    X(refused_leaves_queue, "a refused job, or an undone turn, leaves its queue behind")           \
    X(busy_queue_forgotten, "a queue is forgotten although it has work that is far")               \
    X(loss_counts_as_attempt, "a lost lease counts as an attempt")                                 \
    X(early_by_a_second, "a timer fires a second early")                                           \
    X(drain_ignored, "a draining worker is given new work")                                        \
    X(result_accepted_twice, "a repeated result is accepted again")                                \
    X(list_skips_one, "a page of a list skips a row behind its cursor")                            \
    X(counter_drifts, "an undone turn leaves its numbers behind")                                  \
    X(renewal_forgotten, "a poll confirms a lease and does not renew it")                          \
    X(backoff_forgotten, "a failed attempt is tried again at once")                                \
    X(half_a_definition, "a job from the store is leased without its payload")                     \
    X(old_poll_believed, "a poll from before a restart takes leases away")                         \
    X(repeat_believed, "a repeated poll takes away what its first copy was granted")               \
    X(slot_twice_after_unknown, "an unknown commit that fired a slot is tried again")              \
    X(slot_lost_at_restart, "a server that starts looks for the next slot by the clock")           \
    X(stopping_overlaps, "a slot starts while the run before it is still stopping")                \
    X(permit_freed_early, "a run that is to stop has given its permit back")                       \
    X(rate_not_kept, "a start leaves the store's record of its rate as it was")                    \
    X(resume_looks_back, "a job that is resumed catches up with what it missed")                   \
    X(edit_looks_back, "a changed schedule begins with the slots of the time before it")           \
    X(first_version_forgotten, "the first edit of a job loses what it was before")                 \
    X(version_too_many, "an edit leaves one definition more than may be kept")                     \
    X(versions_outlive_job, "a job is deleted, and its former definitions stay")                   \
    X(removed_fields_stay, "what a new definition leaves out stays as it was")                     \
    X(estimate_of_paused, "something is said to start soon, and its queue is paused")              \
    X(estimate_unserved, "something is said to start soon, and nobody serves it")                  \
    X(estimate_in_past, "a start is reckoned from when its execution became ready")                \
    X(estimate_piles_up, "each that waits is said to wait as long as all of them together")        \
    X(met_rule_stays_met, "what a job waits for counts as met for another moment, too")            \
    X(retry_keeps_name, "a cancelled schedule that is asked to run again takes its name back")     \
    X(dependency_signal_lost, "a dependant does not hear of the end it waited for")                \
    X(dependency_forgotten, "a start loads no dependencies")                                       \
    X(skip_stops_early, "who waits for a skipped job is not told")                                 \
    X(alert_forgotten, "an undone turn keeps its alert from being told")                           \
    X(probe_granted_twice, "a breaker that is half open lets everybody through")                   \
    X(permanent_blames_target, "a breaker counts failures that are their job's own fault")         \
    X(edit_moves_blame, "what runs is charged to what its job names since")                        \
    X(trace_lost_at_restart, "a start forgets which trace its caller gave an execution")           \
    X(breaker_forgotten, "a server that starts knows of no open breaker")                          \
    X(stopping_counts_as_over, "a cancelled job counts as over while it runs")                     \
    X(attempt_counted_for_drain, "a lease that was given back counts as an attempt")               \
    X(backoff_not_stored, "the store is not told when the next attempt begins")                    \
    X(retry_of_permanent, "a permanent failure is tried again")                                    \
    X(retry_after_ignored, "the next attempt begins before its worker asked for it")               \
    X(poison_forgotten, "an execution may lose leases for ever")                                   \
    X(timeout_renewed, "a lease is renewed past its attempt's timeout")                            \
    X(timeout_lost_at_restart, "a start forgets when attempts time out")                           \
    X(dead_letter_without_reason, "a dead letter does not say why")                                \
    X(letter_outlives_retry, "a dead letter that is run again stays one")                          \
    X(operation_forgotten, "a server that starts knows of no operation")                           \
    X(operation_place_lost, "the place of an operation is not kept")                               \
    X(retention_by_birth, "what ended a moment ago goes because it began long ago")                \
    X(slot_signal_lost, "who waits for a slot does not hear of its end")                           \
    X(expiry_lost_at_restart, "what a server finds when it starts does not expire")                \
    X(late_told_again, "a server that starts tells once more that something is late")              \
    X(sla_fired_twice_after_restart, "a start forgets what was told about a run's SLA")            \
    X(sla_exceeded_forgotten, "a retry forgets that an attempt took longer than expected")         \
    X(sla_lost_with_moved_lease, "a run that moves to another worker has no SLA any more")         \
    X(blackout_ignored_after_restart, "a start knows calendars by name only")                      \
    X(held_not_looked_at, "a changed calendar leaves what it held as it was")                      \
    X(idempotent_answer_of_rejected, "the key of a refused submission brings back its ids")        \
    X(unique_not_freed_on_cancel, "a cancelled job keeps the key of its unique work")              \
    X(unique_kept_not_stored, "a key that is kept after success is given back as well")            \
    X(silence_untold, "a ping that does not come is marked, and nobody is told")                   \
    X(silence_told_again, "a server that starts tells of a silence once more")                     \
    X(ping_unheard, "a ping is recorded, and the wait for the next one is not begun")              \
    X(start_late_untold, "who is late is marked, and nobody is told")                              \
    X(pending_alert_forgotten, "an alert is too old before anybody was told of it")                \
    X(silence_by_whole_key, "a silence over the beginning of keys silences none of them")          \
    X(silence_without_end, "a silence that has ended goes on")                                     \
    X(silence_outlived, "what was told under a silence counts as told when that has ended")        \
    X(silence_lost_on_load, "a start, and a server that reads settings, knows of no silence")      \
    X(second_ack_counts, "the newest acknowledgement of an alert takes the place of the first")    \
    X(slow_by_any_run, "what is usual is taken from one run")                                      \
    X(trigger_forgets_payload, "a run that is asked for with a payload has its job's")             \
    X(own_payload_forgotten, "a start runs with the job's payload what has its own")               \
    X(reading_believed, "one reading of the clock is followed")                                    \
    X(deletion_not_waited, "a step of the clock deletes what is young")                            \
    X(delay_not_shifted, "a step of the clock is part of a delay")                                 \
    X(sla_not_shifted, "a step of the clock is part of a run")                                     \
    X(slot_left_in_future, "a clock set back leaves its schedules silent until then")              \
    X(sla_tally_by_job, "the SLAs of a queue are counted of jobs that recur only")                 \
    X(overrun_of_nobody,                                                                           \
      "an overrun is counted for the queue, and not for the owner and the team")                   \
    X(cordon_ignored, "a worker that is cordoned is given work")                                   \
    X(cordon_forgotten, "a server that starts knows of no cordon")                                 \
    X(sleep_counts_losses, "a closed laptop loses its leases")                                     \
    X(timeout_while_asleep, "a result that waited for its server is too late")

/* The same for bugs that only several servers can have. */
#define CLUSTER_PLANTS(X)                                                                          \
    X(share_lock_forgotten, "the epoch is checked when a turn begins, and not held until its end") \
    X(takeover_without_term, "a new owner gives leases less than a full term")                     \
    X(stale_owner_answers, "a server that was deposed answers from its memory")                    \
    X(forward_applied_twice, "a command that was forwarded is sent again for want of an answer")   \
    X(floors_forgotten, "an engine that takes the place of another gives its numbers again")       \
    X(parted_wait_forgotten, "a job waits on for one whose partition went elsewhere")              \
    X(remote_signal_lost, "who waits for a job elsewhere does not hear of its end")                \
    X(inbox_read_outside_commit, "a row of the inbox is gone before what it asks for is kept")     \
    X(inbox_gap_skipped, "a row of the inbox that commits late is never read")                     \
    X(permit_forgotten_by_home, "a home that moves grants again what it has granted")              \
    X(parked_anew, "a poll that is looked at in vain waits anew, however long it has waited")      \
    X(silence_not_waited_out, "a new owner gives away what a silent one may still keep alive")     \
    X(unseen_forgotten, "an execution may end in silence for ever")                                \
    X(relay_needs_meeting, "a worker does not relay to a server that it has not met")              \
    X(one_deadline_for_all, "a lease that is lost takes all runs of its worker along")             \
    X(old_epoch_believed, "a worker believes an owner that was replaced")                          \
    X(hang_answers_nobody, "a turn that waits for its database leaves polls unanswered")           \
    X(outage_decides, "a server that lost its database tells workers to stop what others own")     \
    X(full_queue_holds_permits, "a full queue holds back what has its permit")                     \
    X(step_not_shared, "a step that one server has accepted is not followed by the others")        \
    X(lease_behind_relay, "a worker takes up a lease that it has returned by way of another")      \
    X(busy_mail_hides, "rows of the inbox that wait hide what is behind them")                     \
    X(unknown_mail_spins, "messages of a newer version are read again and again")                  \
    X(lost_marks_forgotten, "the store forgets which turns were called lost")                      \
    X(chain_unchecked, "a commit does not ask for the one before it")                              \
    X(tokens_do_not_jump, "tokens of a store that went back are given again")                      \
    X(cordon_of_others_unread, "a server that is not the worker's home hears of no cordon")

#define PLANT_ENUM(name, words) PLANT_##name,
enum plant { PLANT_NONE, PLANTS(PLANT_ENUM) CLUSTER_PLANTS(PLANT_ENUM) };

extern enum plant plant_active; /* set once, before anything runs */

#define PLANTED(name) (plant_active == PLANT_##name)
#else
#define PLANTED(name) 0
#endif
