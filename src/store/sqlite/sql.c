#include "store/sqlite/sql.h"

#include <assert.h>
#include <string.h>

extern const char sqlite_queries_sql[];
extern const size_t sqlite_queries_sql_len;

static const char *const names[SQL_COUNT] = {
    [SQL_SETUP_WRITER] = "setup_writer",
    [SQL_SYNC_NORMAL] = "sync_normal",
    [SQL_SETUP_READER] = "setup_reader",
    [SQL_SETUP_LOGS] = "setup_logs",
    [SQL_VIEWS] = "views",
    [SQL_VERSION] = "version",
    [SQL_BEGIN_READ] = "begin_read",
    [SQL_BEGIN_WRITE] = "begin_write",
    [SQL_COMMIT] = "commit",
    [SQL_ROLLBACK] = "rollback",
    [SQL_TAKE_PARTITION] = "take_partition",
    [SQL_CHECK_EPOCH] = "check_epoch",
    [SQL_KEEP_TURN] = "keep_turn",
    [SQL_SETTLE] = "settle",
    [SQL_RAISE_NEWEST] = "raise_newest",
    [SQL_TAKE_CLAIM] = "take_claim",
    [SQL_CLAIM_HOLDER] = "claim_holder",
    [SQL_FIND_JOB] = "find_job",
    [SQL_FIND_EXEC] = "find_exec",
    [SQL_FIND_ATTEMPT] = "find_attempt",
    [SQL_FIND_TRAIL] = "find_trail",
    [SQL_LIVE_OF_JOB] = "live_of_job",
    [SQL_FIND_SLOT] = "find_slot",
    [SQL_DUE] = "due",
    [SQL_FIND_LETTER] = "find_letter",
    [SQL_FIND_LETTERS] = "find_letters",
    [SQL_FIND_OLD] = "find_old",
    [SQL_CALENDAR_JOBS] = "calendar_jobs",
    [SQL_FIND_WORKER] = "find_worker",
    [SQL_FIND_INBOX] = "find_inbox",
    [SQL_FIND_OLD_ALERTS] = "find_old_alerts",
    [SQL_FIND_OLD_TALLIES] = "find_old_tallies",
    [SQL_FIND_PACE] = "find_pace",
    [SQL_FETCH] = "fetch",
    [SQL_FETCH_PAYLOAD] = "fetch_payload",
    [SQL_INSERT_JOB] = "insert_job",
    [SQL_INSERT_DOCUMENT] = "insert_document",
    [SQL_UPDATE_JOB] = "update_job",
    [SQL_REDEFINE_JOB] = "redefine_job",
    [SQL_DELETE_DOCUMENT] = "delete_document",
    [SQL_INSERT_LIVE] = "insert_live",
    [SQL_INSERT_PAYLOAD] = "insert_payload",
    [SQL_UPDATE_LIVE] = "update_live",
    [SQL_MOVE_LIVE] = "move_live",
    [SQL_FINISH_LIVE] = "finish_live",
    [SQL_DELETE_LIVE] = "delete_live",
    [SQL_INSERT_HISTORY] = "insert_history",
    [SQL_PUT_ATTEMPT] = "put_attempt",
    [SQL_RELEASE_CLAIM] = "release_claim",
    [SQL_PUT_CLAIM] = "put_claim",
    [SQL_REQUEST_MARK] = "request_mark",
    [SQL_LOAD_REQUESTS] = "load_requests",
    [SQL_READ_REQUEST] = "read_request",
    [SQL_FIND_REQUEST] = "find_request",
    [SQL_INSERT_REQUEST] = "insert_request",
    [SQL_UPDATE_REQUEST] = "update_request",
    [SQL_OLDEST_REQUESTS] = "oldest_requests",
    [SQL_DELETE_REQUESTS] = "delete_requests",
    [SQL_PUT_PRINT] = "put_print",
    [SQL_CLEAN_PRINTS] = "clean_prints",
    [SQL_PUT_REQUEST_MARK] = "put_request_mark",
    [SQL_PUT_WORKER] = "put_worker",
    [SQL_FORGET_WORKER] = "forget_worker",
    [SQL_PUT_QUEUE] = "put_queue",
    [SQL_PUT_TEAM] = "put_team",
    [SQL_PUT_RATE] = "put_rate",
    [SQL_FORGET_RATE] = "forget_rate",
    [SQL_INSERT_ALERT] = "insert_alert",
    [SQL_MARK_ALERT] = "mark_alert",
    [SQL_INSERT_SLA_EVENT] = "insert_sla_event",
    [SQL_PUT_BREAKER] = "put_breaker",
    [SQL_FORGET_BREAKER] = "forget_breaker",
    [SQL_PUT_DEPENDENCY] = "put_dependency",
    [SQL_PUT_LETTER] = "put_letter",
    [SQL_REMOVE_LETTER] = "remove_letter",
    [SQL_PUT_OPERATION] = "put_operation",
    [SQL_FORGET_OPERATION] = "forget_operation",
    [SQL_FORGET_EXEC] = "forget_exec",
    [SQL_FORGET_ATTEMPTS] = "forget_attempts",
    [SQL_FORGET_SLA_EVENTS] = "forget_sla_events",
    [SQL_FORGET_PAYLOAD] = "forget_payload",
    [SQL_FORGET_ALERT] = "forget_alert",
    [SQL_FORGET_TALLY] = "forget_tally",
    [SQL_FORGET_JOB] = "forget_job",
    [SQL_FORGET_DOCUMENT] = "forget_document",
    [SQL_FORGET_DEPENDENCIES] = "forget_dependencies",
    [SQL_FOLD_JOB] = "fold_job",
    [SQL_PUT_CALENDAR] = "put_calendar",
    [SQL_FORGET_CALENDAR] = "forget_calendar",
    [SQL_PUT_CALENDAR_USE] = "put_calendar_use",
    [SQL_FORGET_CALENDAR_USE] = "forget_calendar_use",
    [SQL_INSERT_INBOX] = "insert_inbox",
    [SQL_DELETE_INBOX] = "delete_inbox",
    [SQL_PUT_WAITER] = "put_waiter",
    [SQL_FORGET_WAITER] = "forget_waiter",
    [SQL_PUT_PERMIT] = "put_permit",
    [SQL_FORGET_PERMIT] = "forget_permit",
    [SQL_INSERT_REJECTED] = "insert_rejected",
    [SQL_FORGET_REJECTED] = "forget_rejected",
    [SQL_ADD_COUNTER] = "add_counter",
    [SQL_ADD_TALLY] = "add_tally",
    [SQL_LOAD_COUNTERS] = "load_counters",
    [SQL_LOAD_QUEUES] = "load_queues",
    [SQL_LOAD_TEAMS] = "load_teams",
    [SQL_LOAD_RATES] = "load_rates",
    [SQL_LOAD_BREAKERS] = "load_breakers",
    [SQL_LOAD_OPERATIONS] = "load_operations",
    [SQL_LOAD_WORKERS] = "load_workers",
    [SQL_LOAD_CALENDARS] = "load_calendars",
    [SQL_LOAD_PERMITS] = "load_permits",
    [SQL_LOAD_WAITERS] = "load_waiters",
    [SQL_LOAD_LIVE] = "load_live",
    [SQL_LOAD_DEPENDENCIES] = "load_dependencies",
    [SQL_LOAD_KEYS] = "load_keys",
    [SQL_PUT_KEY] = "put_key",
    [SQL_READ_JOB] = "read_job",
    [SQL_READ_LIVE] = "read_live",
    [SQL_READ_PAYLOAD] = "read_payload",
    [SQL_READ_HISTORY] = "read_history",
    [SQL_READ_ATTEMPTS] = "read_attempts",
    [SQL_READ_GRANT] = "read_grant",
    [SQL_READ_UPSTREAMS] = "read_upstreams",
    [SQL_READ_DEPENDANTS] = "read_dependants",
    [SQL_READ_LETTER] = "read_letter",
    [SQL_LIST_LETTERS] = "list_letters",
    [SQL_READ_CALENDAR] = "read_calendar",
    [SQL_READ_CALENDARS] = "read_calendars",
    [SQL_READ_DRIFT] = "read_drift",
    [SQL_READ_TALLY] = "read_tally",
    [SQL_READ_TALLY_KEYS] = "read_tally_keys",
    [SQL_READ_COUNTERS] = "read_counters",
    [SQL_LIST_ALERTS] = "list_alerts",
    [SQL_LIST_ALERTS_PENDING] = "list_alerts_pending",
    [SQL_LIST_REJECTED] = "list_rejected",
    [SQL_LIST_SLA_EVENTS_OF_JOB] = "list_sla_events_of_job",
    [SQL_LIST_SLA_EVENTS_OF_EXEC] = "list_sla_events_of_exec",
    [SQL_LIST_JOBS] = "list_jobs",
    [SQL_EDGE_JOBS] = "edge_jobs",
    [SQL_LIST_JOBS_NAMED] = "list_jobs_named",
    [SQL_EDGE_JOBS_NAMED] = "edge_jobs_named",
    [SQL_LIST_LIVE] = "list_live",
    [SQL_EDGE_LIVE] = "edge_live",
    [SQL_LIST_LIVE_OF_JOB] = "list_live_of_job",
    [SQL_EDGE_LIVE_OF_JOB] = "edge_live_of_job",
    [SQL_LIST_HISTORY] = "list_history",
    [SQL_EDGE_HISTORY] = "edge_history",
    [SQL_LIST_HISTORY_OF_JOB] = "list_history_of_job",
    [SQL_EDGE_HISTORY_OF_JOB] = "edge_history_of_job",
    [SQL_APPEND_CHUNK] = "append_chunk",
    [SQL_READ_CHUNKS] = "read_chunks",
    [SQL_TRIM_CHUNKS] = "trim_chunks",
    [SQL_PUT_CHECKPOINT] = "put_checkpoint",
    [SQL_READ_CHECKPOINT] = "read_checkpoint",
    [SQL_LIST_CHECKPOINTS] = "list_checkpoints",
    [SQL_DROP_CHECKPOINT] = "drop_checkpoint",
};

static const struct str marker = STR_INIT("-- name: ");

const char *sql_name(enum sql sql)
{
    assert(sql < SQL_COUNT);
    return names[sql];
}

/* Where the next block's name line starts, or the end of the text. */
static size_t block_end(struct str text)
{
    size_t at = 0;
    while (at < text.len && !str_starts(str_from(text, at), marker))
        at += str_index(str_from(text, at), '\n') + 1;
    return at < text.len ? at : text.len;
}

struct str sql_text(enum sql sql)
{
    struct str wanted = str_c(sql_name(sql));
    struct str rest = str_of(sqlite_queries_sql, sqlite_queries_sql_len);
    for (;;) {
        rest = str_from(rest, block_end(rest));
        assert(rest.len > 0 && "queries.sql has no block of that name");
        struct str name = str_from(str_cut(&rest, '\n'), marker.len);
        if (str_eq(name, wanted))
            return str_of(rest.ptr, block_end(rest));
    }
}
