/* machine.h - which machine this is, and which files are its own.
 *
 * A lock on a file proves that its former holder is dead only on the machine where both run: a
 * network file system may have given the lock away, and after a copy, or on another machine, it
 * says nothing. */
#pragma once
#include "base/arena.h"

#include <stdbool.h>

/* Of the running kernel: another one with every boot. In the arena; empty: the system does not
 * say. */
struct str machine_boot_id(struct arena *arena);
/* Whether the file system of that file is of this machine alone. False when in doubt. */
bool machine_has_file(int fd);
