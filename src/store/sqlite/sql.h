/* sql.h - the statements of queries.sql, by name.
 *
 * The numbers follow the order of the file and are grouped by who uses them, so that a connection
 * prepares a range or two and nothing it will never run. */
#pragma once
#include "base/str.h"

enum sql {
    /* run whole, never prepared */
    SQL_SETUP_WRITER,
    SQL_SYNC_NORMAL,
    SQL_SETUP_READER,
    SQL_SETUP_LOGS,
    SQL_VIEWS,

    /* every connection */
    SQL_VERSION,
    SQL_BEGIN_READ,
    SQL_BEGIN_WRITE,
    SQL_COMMIT,
    SQL_ROLLBACK,

    /* the writer */
    SQL_TAKE_PARTITION,
    SQL_CHECK_EPOCH,
    SQL_KEEP_TURN,
    SQL_SETTLE,
    SQL_RAISE_NEWEST,
    SQL_TAKE_CLAIM,
    SQL_CLAIM_HOLDER,
    SQL_FIND_JOB,
    SQL_FIND_EXEC,
    SQL_FIND_ATTEMPT,
    SQL_FIND_TRAIL,
    SQL_LIVE_OF_JOB,
    SQL_DUE,
    SQL_FETCH,
    SQL_INSERT_JOB,
    SQL_INSERT_DOCUMENT,
    SQL_UPDATE_JOB,
    SQL_REDEFINE_JOB,
    SQL_DELETE_DOCUMENT,
    SQL_INSERT_LIVE,
    SQL_UPDATE_LIVE,
    SQL_MOVE_LIVE,
    SQL_FINISH_LIVE,
    SQL_DELETE_LIVE,
    SQL_INSERT_HISTORY,
    SQL_PUT_ATTEMPT,
    SQL_RELEASE_CLAIM,
    SQL_PUT_WORKER,
    SQL_FORGET_WORKER,
    SQL_PUT_QUEUE,
    SQL_PUT_TEAM,
    SQL_PUT_RATE,
    SQL_FORGET_RATE,
    SQL_INSERT_ALERT,
    SQL_MARK_ALERT,
    SQL_PUT_BREAKER,
    SQL_FORGET_BREAKER,
    SQL_PUT_DEPENDENCY,
    SQL_ADD_COUNTER,
    SQL_ADD_TALLY,
    SQL_LOAD_COUNTERS,
    SQL_LOAD_QUEUES,
    SQL_LOAD_TEAMS,
    SQL_LOAD_RATES,
    SQL_LOAD_BREAKERS,
    SQL_LOAD_WORKERS,
    SQL_LOAD_LIVE,
    SQL_LOAD_DEPENDENCIES,
    SQL_LOAD_KEYS,
    SQL_PUT_KEY,

    /* readers; every edge_ follows its list_ */
    SQL_READ_JOB,
    SQL_READ_LIVE,
    SQL_READ_HISTORY,
    SQL_READ_ATTEMPTS,
    SQL_READ_GRANT,
    SQL_READ_UPSTREAMS,
    SQL_READ_DEPENDANTS,
    SQL_READ_DRIFT,
    SQL_READ_TALLY,
    SQL_READ_TALLY_KEYS,
    SQL_LIST_ALERTS,
    SQL_LIST_ALERTS_PENDING,
    SQL_LIST_JOBS,
    SQL_EDGE_JOBS,
    SQL_LIST_JOBS_NAMED,
    SQL_EDGE_JOBS_NAMED,
    SQL_LIST_LIVE,
    SQL_EDGE_LIVE,
    SQL_LIST_LIVE_OF_JOB,
    SQL_EDGE_LIVE_OF_JOB,
    SQL_LIST_HISTORY,
    SQL_EDGE_HISTORY,
    SQL_LIST_HISTORY_OF_JOB,
    SQL_EDGE_HISTORY_OF_JOB,

    /* logs.db */
    SQL_APPEND_CHUNK,
    SQL_READ_CHUNKS,
    SQL_TRIM_CHUNKS,
    SQL_PUT_CHECKPOINT,
    SQL_READ_CHECKPOINT,
    SQL_LIST_CHECKPOINTS,
    SQL_DROP_CHECKPOINT,

    SQL_COUNT
};

/* "insert_job": as the file and error messages spell it. */
const char *sql_name(enum sql sql);
/* The block of that name, comments included. Lives as long as the program. */
struct str sql_text(enum sql sql);
