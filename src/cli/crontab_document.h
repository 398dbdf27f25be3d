/* crontab_document.h - an entry of a crontab as a job document.
 *
 * The job behaves as the entry did: by its shell, with its variables, in its HOME; not retried,
 * beside an earlier run that is not over, and not made up for when it was missed. */
#pragma once
#include "cli/crontab.h"

/* JSON, in the arena. */
struct str crontab_document(const struct crontab_entry *entry, struct arena *arena);
