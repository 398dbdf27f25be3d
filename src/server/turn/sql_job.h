/* sql_job.h - jobs that came through the inbox, from somebody's SQL transaction.
 *
 * The same document as POST /jobs takes, read by the same reader. No client waits for an answer, so
 * the errors become one sentence for the list of rejected submissions. */
#pragma once
#include "job/command/command.h"

struct sql_job_rule {
    void *zones;
    size_t payload_bytes_max;  /* as over HTTP; 0: no limit */
    int64_t timeout_ms;        /* of a document that says none; 0: none */
    size_t document_bytes_max; /* the same, of a request: a longer document is not even parsed */
};

/* The SQL role decides the team; a document that names another is refused. What ret_item points to
 * lives in arena, or with rec. */
enum rc sql_job_read(const struct sql_job_rule *rule, const struct inbox_rec *rec,
                     struct arena *arena, struct submission *ret_item, struct err *err);
