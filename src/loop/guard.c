#include "loop/guard.h"
#include "base/log.h"
#include "base/mem.h"

#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* No secret, and it tells whose process it is. */
#define SHOWN "BELFRY_DATA="

static void hide_environment(void)
{
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    char **copy = mem_new((count + 1) * sizeof(copy[0])); /* for as long as the process lives */
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(environ[i]);
        copy[i] = mem_dup(environ[i], len + 1);
        if (strncmp(environ[i], SHOWN, strlen(SHOWN)) != 0)
            explicit_bzero(environ[i], len);
    }
    environ = copy;
}

void guard_process(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    hide_environment();
}

void guard_warn_of_root(void)
{
    if (geteuid() == 0)
        log_warn(
            "started as root: every client that may submit jobs may do anything on this machine",
            NULL);
}
