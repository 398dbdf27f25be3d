#include "store/postgres/query.h"

#include <assert.h>

extern const char postgres_queries_sql[];
extern const size_t postgres_queries_sql_len;

static const char *const names[QUERY_COUNT] = {
    [Q_SETUP] = "setup",
    [Q_SETUP_LOCAL] = "setup_local",
    [Q_TYPES] = "types",
    [Q_MIGRATE_BEGIN] = "migrate_begin",
    [Q_MIGRATE_VERSION] = "migrate_version",
    [Q_MAKE_PARTITIONS] = "make_partitions",
    [Q_ADMIT_ROLE] = "admit_role",
    [Q_VERSION] = "version",
    [Q_BEGIN_READ] = "begin_read",
    [Q_BEGIN_WRITE] = "begin_write",
    [Q_COMMIT] = "commit",
    [Q_ROLLBACK] = "rollback",
    [Q_TAKE_PARTITIONS] = "take_partitions",
    [Q_TAKE_PARTITIONS_NOW] = "take_partitions_now",
    [Q_RAISE_FLOORS] = "raise_floors",
    [Q_FORGET_TURNS] = "forget_turns",
    [Q_COUNT_PARTITIONS] = "count_partitions",
    [Q_PAUSE] = "pause",
    [Q_CHECK_EPOCHS] = "check_epochs",
    [Q_KEEP_TURN] = "keep_turn",
    [Q_KEEP_TURN_FENCED] = "keep_turn_fenced",
    [Q_HOLD_PARTITIONS] = "hold_partitions",
    [Q_SETTLE] = "settle",
    [Q_SETTLE_LOST] = "settle_lost",
    [Q_TAKE_CLAIMS] = "take_claims",
    [Q_TAKE_ENDED_CLAIMS] = "take_ended_claims",
    [Q_CLAIM_HOLDERS] = "claim_holders",
    [Q_FIND_JOB] = "find_job",
    [Q_FIND_EXEC] = "find_exec",
    [Q_FIND_JOB_OF_EXEC] = "find_job_of_exec",
    [Q_FIND_ATTEMPT] = "find_attempt",
    [Q_FIND_TRAIL] = "find_trail",
    [Q_LIVE_OF_JOB] = "live_of_job",
    [Q_LIVE_OF_EXEC] = "live_of_exec",
    [Q_FIND_SLOT] = "find_slot",
    [Q_DUE] = "due",
    [Q_FIND_LETTER] = "find_letter",
    [Q_FIND_LETTERS] = "find_letters",
    [Q_FIND_OLD] = "find_old",
    [Q_CALENDAR_JOBS] = "calendar_jobs",
    [Q_FIND_WORKER] = "find_worker",
    [Q_FIND_INBOX] = "find_inbox",
    [Q_INBOX_NOW] = "inbox_now",
    [Q_FETCH] = "fetch",
    [Q_INSERT_JOBS] = "insert_jobs",
    [Q_UPDATE_JOBS] = "update_jobs",
    [Q_REDEFINE_JOBS] = "redefine_jobs",
    [Q_INSERT_LIVE] = "insert_live",
    [Q_UPDATE_LIVE] = "update_live",
    [Q_MOVE_LIVE] = "move_live",
    [Q_FINISH_LIVE] = "finish_live",
    [Q_DELETE_LIVE] = "delete_live",
    [Q_FINISH_KNOWN] = "finish_known",
    [Q_INSERT_HISTORY] = "insert_history",
    [Q_PUT_ATTEMPTS] = "put_attempts",
    [Q_RELEASE_CLAIMS] = "release_claims",
    [Q_PUT_CLAIMS] = "put_claims",
    [Q_SWEEP_CLAIMS] = "sweep_claims",
    [Q_PUT_WORKER] = "put_worker",
    [Q_FORGET_WORKER] = "forget_worker",
    [Q_PUT_QUEUE] = "put_queue",
    [Q_PUT_TEAM] = "put_team",
    [Q_RAISE_SETTINGS] = "raise_settings",
    [Q_PUT_RATE] = "put_rate",
    [Q_FORGET_RATE] = "forget_rate",
    [Q_INSERT_ALERT] = "insert_alert",
    [Q_MARK_ALERT] = "mark_alert",
    [Q_INSERT_SLA_EVENT] = "insert_sla_event",
    [Q_PUT_BREAKER] = "put_breaker",
    [Q_FORGET_BREAKER] = "forget_breaker",
    [Q_PUT_DEPENDENCY] = "put_dependency",
    [Q_PUT_LETTERS] = "put_letters",
    [Q_REMOVE_LETTERS] = "remove_letters",
    [Q_PUT_OPERATION] = "put_operation",
    [Q_FORGET_OPERATION] = "forget_operation",
    [Q_FORGET_JOBS] = "forget_jobs",
    [Q_FOLD_JOBS] = "fold_jobs",
    [Q_FORGET_ATTEMPTS] = "forget_attempts",
    [Q_FORGET_EXECS] = "forget_execs",
    [Q_PUT_CALENDAR] = "put_calendar",
    [Q_FORGET_CALENDAR] = "forget_calendar",
    [Q_PUT_CALENDAR_USE] = "put_calendar_use",
    [Q_FORGET_CALENDAR_USE] = "forget_calendar_use",
    [Q_INSERT_INBOX] = "insert_inbox",
    [Q_DELETE_INBOX] = "delete_inbox",
    [Q_PUT_WAITER] = "put_waiter",
    [Q_FORGET_WAITER] = "forget_waiter",
    [Q_PUT_PERMIT] = "put_permit",
    [Q_FORGET_PERMIT] = "forget_permit",
    [Q_INSERT_REJECTED] = "insert_rejected",
    [Q_FORGET_REJECTED] = "forget_rejected",
    [Q_ADD_COUNTERS] = "add_counters",
    [Q_ADD_TALLIES] = "add_tallies",
    [Q_FOLD_COUNTERS] = "fold_counters",
    [Q_FOLD_TALLIES] = "fold_tallies",
    [Q_FORGET_OWN_TURNS] = "forget_own_turns",
    [Q_LOAD_COUNTERS] = "load_counters",
    [Q_LOAD_QUEUES] = "load_queues",
    [Q_LOAD_TEAMS] = "load_teams",
    [Q_LOAD_RATES] = "load_rates",
    [Q_LOAD_BREAKERS] = "load_breakers",
    [Q_LOAD_OPERATIONS] = "load_operations",
    [Q_LOAD_WORKERS] = "load_workers",
    [Q_LOAD_CALENDARS] = "load_calendars",
    [Q_LOAD_PERMITS] = "load_permits",
    [Q_LOAD_WAITERS] = "load_waiters",
    [Q_LOAD_LIVE] = "load_live",
    [Q_LOAD_DEPENDENCIES] = "load_dependencies",
    [Q_LOAD_KEYS] = "load_keys",
    [Q_PUT_KEY] = "put_key",
    [Q_RENEW_NODE] = "renew_node",
    [Q_READ_NODES] = "read_nodes",
    [Q_READ_PARTITIONS] = "read_partitions",
    [Q_READ_CLUSTER] = "read_cluster",
    [Q_RELEASE_PARTITIONS] = "release_partitions",
    [Q_RELEASE_ALL] = "release_all",
    [Q_LEAVE_NODE] = "leave_node",
    [Q_FORGET_NODES] = "forget_nodes",
    [Q_TEND] = "tend",
    [Q_READ_JOB] = "read_job",
    [Q_READ_LIVE] = "read_live",
    [Q_READ_HISTORY] = "read_history",
    [Q_READ_ATTEMPTS] = "read_attempts",
    [Q_READ_GRANT] = "read_grant",
    [Q_READ_UPSTREAMS] = "read_upstreams",
    [Q_READ_DEPENDANTS] = "read_dependants",
    [Q_READ_LETTER] = "read_letter",
    [Q_LIST_LETTERS] = "list_letters",
    [Q_READ_CALENDAR] = "read_calendar",
    [Q_READ_CALENDARS] = "read_calendars",
    [Q_READ_DRIFT] = "read_drift",
    [Q_READ_TALLY] = "read_tally",
    [Q_READ_TALLY_KEYS] = "read_tally_keys",
    [Q_READ_COUNTERS] = "read_counters",
    [Q_LIST_ALERTS] = "list_alerts",
    [Q_LIST_ALERTS_PENDING] = "list_alerts_pending",
    [Q_LIST_SLA_EVENTS_OF_JOB] = "list_sla_events_of_job",
    [Q_LIST_SLA_EVENTS_OF_EXEC] = "list_sla_events_of_exec",
    [Q_LIST_REJECTED] = "list_rejected",
    [Q_LIST_JOBS] = "list_jobs",
    [Q_EDGE_JOBS] = "edge_jobs",
    [Q_LIST_JOBS_NAMED] = "list_jobs_named",
    [Q_EDGE_JOBS_NAMED] = "edge_jobs_named",
    [Q_LIST_LIVE] = "list_live",
    [Q_EDGE_LIVE] = "edge_live",
    [Q_LIST_LIVE_OF_JOB] = "list_live_of_job",
    [Q_EDGE_LIVE_OF_JOB] = "edge_live_of_job",
    [Q_LIST_HISTORY] = "list_history",
    [Q_EDGE_HISTORY] = "edge_history",
    [Q_LIST_HISTORY_OF_JOB] = "list_history_of_job",
    [Q_EDGE_HISTORY_OF_JOB] = "edge_history_of_job",
    [Q_RELAX] = "relax",
    [Q_APPEND_CHUNKS] = "append_chunks",
    [Q_READ_CHUNKS] = "read_chunks",
    [Q_TRIM_WEEKS] = "trim_weeks",
    [Q_TRIM_CHUNKS] = "trim_chunks",
    [Q_PUT_CHECKPOINT] = "put_checkpoint",
    [Q_READ_CHECKPOINT] = "read_checkpoint",
    [Q_LIST_CHECKPOINTS] = "list_checkpoints",
    [Q_DROP_CHECKPOINT] = "drop_checkpoint",
};

static const struct str marker = STR_INIT("-- name: ");

const char *query_name(enum query query)
{
    assert(query < QUERY_COUNT);
    return names[query];
}

/* Where the next block's name line starts, or the end of the text. */
static size_t block_end(struct str text)
{
    size_t at = 0;
    while (at < text.len && !str_starts(str_from(text, at), marker))
        at += str_index(str_from(text, at), '\n') + 1;
    return at < text.len ? at : text.len;
}

struct str query_text(enum query query)
{
    struct str wanted = str_c(query_name(query));
    struct str rest = str_of(postgres_queries_sql, postgres_queries_sql_len);
    for (;;) {
        rest = str_from(rest, block_end(rest));
        assert(rest.len > 0 && "queries.sql has no block of that name");
        struct str name = str_from(str_cut(&rest, '\n'), marker.len);
        if (str_eq(name, wanted))
            return str_of(rest.ptr, block_end(rest));
    }
}
