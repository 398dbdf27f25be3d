/* job_env.h - which variables of a worker's environment its commands get.
 *
 * A worker may be started with passwords and keys in its environment, and a command prints what it
 * likes. So commands get a few variables that every program expects (PATH, HOME, USER, LANG, LC_*,
 * TZ, TMPDIR), and those that the operator names: `job_env` of a server, `--env` of a worker. */
#pragma once
#include "base/err.h"
#include "base/str.h"

/* Whether `list`, names with commas between them, makes sense. A name that ends with * stands for
 * all that begin so. The empty list is fine. */
enum rc job_env_check(struct str list, struct err *err);
/* Whether commands get the variable. Variables that begin with BELFRY_ they never inherit. */
bool job_env_allows(struct str name, const struct str *lists, size_t list_count);
