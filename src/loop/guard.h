/* guard.h - keeps what a server or a worker knows from the jobs beside it.
 *
 * Jobs usually run as the user that their worker and server run as. Such a process may read the
 * memory and the environment of the others, unless they are not dumpable. */
#pragma once

/* Before anything is read from the environment and before there are threads. Makes the process not
 * dumpable (no core files, no debugger, nothing in /proc that tells), which processes that it forks
 * share, and moves the environment to where the kernel does not show it: getenv works as before
 * (libpq needs PGPASSWORD for each connection), but /proc/PID/environ shows BELFRY_DATA alone, also
 * to root. */
void guard_process(void);
/* Writes a line to the log when this is root: then nothing guards anything from a job. */
void guard_warn_of_root(void);
