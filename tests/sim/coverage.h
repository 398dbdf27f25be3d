/* coverage.h - what the days of this process have seen.
 *
 * A simulation that keeps every promise because nothing ever happens in it would be worthless. So
 * faults, steps, outcomes, answers and rare turns of events are counted over all days, and a run of
 * many days fails when something on the list was never seen. */
#pragma once
#include "faults.h"
#include "job/command/command.h"

/* Rare turns of events that are worth a place on the list. */
#define SIGHTINGS(X)                                                                               \
    X(LATE_SUCCESS, "a success came after its lease had ended, and counted")                       \
    X(SENT_AGAIN, "a lease was sent again")                                                        \
    X(FAR_AHEAD, "an execution lay beyond the horizon")                                            \
    X(UNDONE, "a turn was undone")                                                                 \
    X(DEPOSED, "a server learned that it was deposed")                                             \
    X(RESTARTED_WITH_LEASES, "a server started and found leases")                                  \
    X(TURN_OF_MANY, "a turn took many commands")                                                   \
    X(DEPENDENCY_MET, "a job that was waited for ended as it should")                              \
    X(DEPENDENCY_IMPOSSIBLE, "a job that was waited for ended otherwise")                          \
    X(MOVED, "an edit moved the slot ahead")                                                       \
    X(CHANGED_RANGE, "an edit skipped what had passed of a schedule")                              \
    X(ROLLED_BACK, "a job got a definition back that it had before an edit")                       \
    X(VERSION_TRIMMED, "a job had one definition too many, and the oldest went")                   \
    X(ESTIMATED, "something that waits was said to start at a moment")                             \
    X(SLOT_MET, "a slot waited for the slot of another job, and went on")                          \
    X(SLOT_IMPOSSIBLE, "a slot waited for the slot of another job, and was skipped")               \
    X(MET_MOVED, "a job that waits for slots was planned anew when some of them were met")         \
    X(NAME_IN_USE, "a name was refused")                                                           \
    X(REPLAY, "a request came again and got its first answer")                                     \
    X(KEY_REUSED, "a key was refused that stands for another request")                             \
    X(PENDING, "a request came again while its twin was decided")                                  \
    X(EXISTING, "unique work was there already")                                                   \
    X(KEPT, "unique work was there already, and had succeeded")                                    \
    X(KEPT_TAKEN, "a key that was kept after success was taken over")                              \
    X(KEPT_ENDED, "a key was kept after success until its time was over")                          \
    X(STOPPING, "unique work was refused because that which is there is being cancelled")          \
    X(STOP_TOLD, "a worker was told to stop something")                                            \
    X(SKIPPED_RANGE, "many slots were skipped at once")                                            \
    X(FIRED_LATE, "a slot was fired late")                                                         \
    X(TROUBLE, "a ping did not come, or told of a failure, and that was told")                     \
    X(TROUBLE_GOES_ON, "… and another one was not, since nothing had been well meanwhile")         \
    X(OVERLAP, "a slot was skipped because an earlier run was not over")                           \
    X(HELD_BACK, "a worker waited for work that may not start")                                    \
    X(BREAKER_OPEN, "a target was left alone")                                                     \
    X(PROBE, "after a rest it was tried again")                                                    \
    X(SECOND_PROBE, "another was tried, since the first took long")                                \
    X(OLD_TARGET, "what ran was charged to what its job no longer names")                          \
    X(PROBE_AFTER_RESTART, "after a restart it was tried again")                                   \
    X(RATE_AFTER_RESTART, "the first start of a rate after a restart")                             \
    X(SERVER_TIMEOUT, "the server ended a run past its timeout")                                   \
    X(RETRY_AFTER, "a worker put off the next attempt")                                            \
    X(LETTER_RETRIED, "a dead letter was run again")                                               \
    X(LETTER_EXPIRED, "a dead letter was too old")                                                 \
    X(OPERATION_AFTER_RESTART, "an operation went on after a restart")                             \
    X(ACTED_ON_MANY, "an operation did something to a job or an execution")                        \
    X(OPERATION_CANCELLED, "an operation was cancelled before its end")                            \
    X(HISTORY_FORGOTTEN, "what had ended long ago was deleted")                                    \
    X(JOB_FORGOTTEN, "its job was deleted with it")                                                \
    X(ALERT_FORGOTTEN, "an alert was too old")                                                     \
    X(ALERT_SILENCED, "an alert was raised under a silence")                                       \
    X(SILENCE_ENDED, "a silence ended by itself, and its row went")                                \
    X(OWN_PAYLOAD, "something was run again with another payload")                                 \
    X(SLOW, "a run took much longer than usual")                                                   \
    X(SLA_STOPPED, "a run was ended for its SLA")                                                  \
    X(SLA_AFTER_RESTART, "a limit was told by another server than the one that began")             \
    X(SLA_AFTER_MOVE, "a limit was told under another lease than the first")                       \
    X(CALENDAR_SKIP, "a calendar skipped something")                                               \
    X(CALENDAR_GROUP, "slots that a calendar had held became one run")                             \
    X(LET_GO_EARLY, "what was held went on because its calendar was changed")                      \
    X(QUEUE_FORGOTTEN, "a queue that nobody needed was forgotten")                                 \
    X(QUEUE_DELETED, "somebody deleted a queue")                                                   \
    X(QUEUE_LIMITED, "a job was refused because its queue would be one too many")                  \
    X(CLOCK_GLITCH, "a clock was wrong, and right again before it was believed")                   \
    X(CLOCK_STEP, "a clock was set for good")                                                      \
    X(CLOCK_ACCEPTED, "a server accepted a step of its clock")                                     \
    X(CLOCK_MOVED, "something that waits moved along with the clock")                              \
    X(CLOCK_REPLANNED, "a slot was planned anew, since the clock was set back")                    \
    X(CLOCK_START, "a server started with a clock that was wrong")                                 \
    X(CLOCK_SLEEP, "server and workers slept")                                                     \
    X(TAKEN, "a server took partitions")                                                           \
    X(GIVEN, "a server gave partitions back")                                                      \
    X(DEPRIVED, "a server learned that it was deprived of a partition")                            \
    X(FORWARDED, "a command was forwarded to its owner")                                           \
    X(MISDIRECTED, "a command came to a server that does not own it, and was refused")             \
    X(FENCED, "a server stopped deciding because it could not renew")                              \
    X(SEVERED, "a turn took so long that the database ended it")                                   \
    X(HUNG, "a server waited for a database that hung")                                            \
    X(STORM, "a storm broke out")                                                                  \
    X(KILLED, "a run took down its worker and its server")                                         \
    X(RELAYED, "a worker was heard by way of another server")                                      \
    X(GONE_BACK, "the database had lost turns that a server believed in")                          \
    X(LATE_COMMIT, "the commit of a turn that was called lost came late, and was kept out")        \
    X(SQL_REJECTED, "something came by SQL and was rejected")                                      \
    X(SQL_BUSY, "something that came by SQL had to wait for room")                                 \
    X(CALENDAR_HEARD, "a changed calendar came to a server that holds something for it")           \
    X(AWAY, "a poll was answered by a server that may not decide")

#define SIGHTING_ENUM(name, words) SAW_##name,
enum sight { SIGHTINGS(SIGHTING_ENUM) SIGHTING_KINDS };
enum { SIGHTINGS_ALONE = SAW_TAKEN }; /* those from there on are for clusters */

/* First of all. Processes that are forked from here on see together. */
void coverage_begin(void);

void saw(enum sight sighting);
void saw_fault(enum fault fault);
void saw_step(enum exec_event event);
void saw_outcome(enum outcome outcome);
void saw_answer(const struct command *cmd);

/* Prints what was never seen and returns false, or returns true. */
bool coverage_is_full(bool cluster);
