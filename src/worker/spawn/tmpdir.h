/* tmpdir.h - temporary directories, and how to be rid of them.
 *
 * A worker has one directory, only its own user can look into it, and each attempt one below. The
 * spawner removes the worker's when the worker is gone, so a crash leaves nothing behind. */
#pragma once
#include "base/err.h"

#include <stdbool.h>

/* A path below root that nobody can guess and nobody has made; the caller's to free. Apart from
 * making it, so that the one who removes it in the end can be told before it exists. */
char *tmpdir_name(const char *root);
/* Makes it, mode 0700. */
enum rc tmpdir_make(const char *path, struct err *err);

/* True when it is as tmpdir_make made it: empty, mode 0700, and never was large. */
bool tmpdir_is_new(const char *path);

/* Removes a directory and all below it, without following links. Commands may have put anything
 * there: directories nested deeper than a stack or without permissions do not stop it. */
enum rc tmpdir_remove(const char *path, struct err *err);
