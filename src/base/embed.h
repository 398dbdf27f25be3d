/* embed.h - a file of the source tree, compiled into the binary.
 *
 * scripts/embed writes the C source during the build and the Makefile says which files. A single
 * file becomes `const char NAME[]` and `const size_t NAME_len`; a folder becomes a table of these,
 * in the order of the file names, closed by an entry whose name is NULL. Code that uses one
 * declares it `extern` beside its use:
 *
 *     extern const char openapi_json[];
 *     extern const size_t openapi_json_len;
 *     extern const struct embedded sqlite_migrations[];
 *
 * The statements of SQL stores are made otherwise: see store/sql/statement.h. */
#pragma once

#include <stddef.h>

struct embedded {
    const char *name; /* without its folder: "0001_jobs.sql" */
    const char *text; /* the bytes of the file, and a NUL behind them */
    size_t len;       /* without that NUL */
};
