/* file.h - small files, read whole: configs, keys, job documents.
 *
 * These calls block. They are for the command line and for the start of a daemon, never for a
 * loop that serves. */
#pragma once
#include "base/arena.h"

/* The bytes of a file, with a NUL behind them, in the arena; "-" is standard input. RC_NOT_FOUND
 * when there is no such file, RC_TOO_LARGE when it holds more than max_bytes. */
enum rc file_read(const char *path, size_t max_bytes, struct arena *arena, struct str *ret_text,
                  struct err *err);

/* Makes a file with one line in dir, which only its owner can read, in the place of one that is
 * there. It is there whole or not at all, also after a power cut. A link that someone left under
 * its name is not followed: what it leads to stays as it is. */
enum rc file_write_secret(const char *dir, const char *name, struct str line, struct err *err);

/* The key to show a server: what stands in `path` when that is not NULL, else BELFRY_TOKEN, else
 * the file key_name ("admin.key") in the data directory (BELFRY_DATA, else ./belfry-data).
 * RC_NOT_FOUND when none of the three is there. */
enum rc file_read_key(const char *path, const char *key_name, struct arena *arena,
                      struct str *ret_key, struct err *err);
