/* narrow_row.h - rows without anything that most rows do not have.
 *
 * They ran once, on a handler, and nothing special became of them. All that they have in common
 * stands in the statements for them, so less is sent, and read by PostgreSQL (0003_records.sql). */
#pragma once
#include "job/record/record.h"

bool plain_job(const struct job_change *change); /* one that is inserted */
bool plain_exec(const struct exec_rec *exec);
bool plain_end(
    const struct exec_change *change); /* of an execution, with its job and its attempt */
