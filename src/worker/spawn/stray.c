#include "worker/spawn/stray.h"
#include "loop/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Opens /proc/PID/name; NULL when there is no such thing or no right to it. */
static FILE *open_proc(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return fopen(path, "re");
}

void stray_each(void (*visit)(void *arg, pid_t child), void *arg)
{
    char name[32];
    snprintf(name, sizeof(name), "task/%d/children", (int)getpid());
    FILE *file = open_proc(getpid(), name);
    if (file == NULL)
        return;
    char *word = NULL;
    size_t room = 0;
    while (getdelim(&word, &room, ' ', file) > 0) {
        long pid = strtol(word, NULL, 10);
        if (pid > 0)
            visit(arg, (pid_t)pid);
    }
    free(word);
    (void)fclose(file); /* was only read */
}

bool stray_env(pid_t pid, const char *prefix, char *ret_entry, size_t size)
{
    FILE *file = open_proc(pid, "environ");
    if (file == NULL)
        return false;
    char *entry = NULL;
    size_t room = 0;
    bool found = false;
    while (!found && getdelim(&entry, &room, '\0', file) > 0)
        found = strncmp(entry, prefix, strlen(prefix)) == 0;
    if (found)
        snprintf(ret_entry, size, "%s", entry);
    free(entry);
    (void)fclose(file);
    return found;
}

/* Behind the name, which may hold anything: state, parent, group, session, and as the twentieth the
 * start. */
bool stray_birth(pid_t pid, struct stray_birth *ret_birth)
{
    enum { SESSION = 4, START = 20 };
    char text[1024] = "";
    FILE *file = open_proc(pid, "stat");
    if (file == NULL)
        return false;
    size_t len = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[len] = '\0';
    char *rest = strrchr(text, ')');
    int field = 0;
    for (const char *word; rest != NULL && (word = strsep(&rest, " ")) != NULL; field++) {
        if (field == SESSION)
            ret_birth->session = (pid_t)strtol(word, NULL, 10);
        if (field == START) {
            ret_birth->at = strtoull(word, NULL, 10);
            return true;
        }
    }
    return false;
}

unsigned long long stray_now(void)
{
    static const unsigned long long second_us = 1000000;
    return (unsigned long long)clock_boot_us() * (unsigned long long)sysconf(_SC_CLK_TCK) /
           second_us;
}

static void kill_one(void *arg, pid_t child)
{
    (void)arg;
    kill(child, SIGKILL);
}

/* Waits a moment for a child to end, and reaps all that have. False when there are none left. */
static bool reap_some(const sigset_t *child_signal)
{
    static const struct timespec moment = {.tv_nsec = 20000000}; /* a missed one is seen then */
    pid_t pid;
    sigtimedwait(child_signal, NULL, &moment);
    do {
        pid = waitpid(-1, NULL, WNOHANG);
    } while (pid > 0);
    return pid == 0 || errno != ECHILD;
}

bool stray_kill_all(int timeout_ms)
{
    bool left;
    int64_t end_us = clock_mono_us() + (int64_t)timeout_ms * 1000;
    sigset_t child_signal;
    sigset_t before;
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_signal, &before);
    do {
        stray_each(kill_one, NULL);
        left = reap_some(&child_signal);
    } while (left && clock_mono_us() < end_us);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return !left;
}
