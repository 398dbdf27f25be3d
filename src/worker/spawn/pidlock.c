#include "worker/spawn/pidlock.h"
#include "base/arena.h"
#include "base/id.h"
#include "base/log.h"
#include "loop/file.h"
#include "loop/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLEAN STR("clean")

enum { TEXT_MAX = 256, PATH_MAX_BYTES = 4096 };

/* The text of the lock file. */
struct note {
    pid_t pid;  /* 0: nothing sensible */
    bool clean; /* nothing that it has started was left */
};

static struct note read_note(int fd)
{
    char text[TEXT_MAX];
    int64_t pid = 0;
    ssize_t len = pread(fd, text, sizeof(text), 0);
    struct str rest = str_of(text, len < 0 ? 0 : (size_t)len);
    if (!str_to_i64(str_trim(str_cut(&rest, '\n')), &pid))
        return (struct note){0};
    return (struct note){.pid = (pid_t)pid, .clean = str_eq(str_trim(rest), CLEAN)};
}

static pid_t read_pid(int fd)
{
    return read_note(fd).pid;
}

static bool is_alive(pid_t pid)
{
    return kill(pid, 0) == 0 || errno == EPERM;
}

static enum rc lock(int fd, const char *path, struct err *err)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return RC_OK;
    if (errno != EWOULDBLOCK)
        return err_set(err, RC_IO, "lock %s: %s", path, strerror(errno));
    pid_t pid = read_pid(fd);
    if (pid == 0 || is_alive(pid)) /* 0: it is just about to write its id */
        return err_set(err, RC_CONFLICT, "%s is held by process %d", path, (int)pid);
    log_info("waiting until the commands of a dead worker have ended", "lock", path, NULL);
    while (flock(fd, LOCK_EX) != 0) {
        if (errno != EINTR)
            return err_set(err, RC_IO, "lock %s: %s", path, strerror(errno));
    }
    return RC_OK;
}

static enum rc write_pid(int fd, const char *path, struct err *err)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "%d\n", (int)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)len, 0) != len)
        return err_set(err, RC_IO, "write %s: %s", path, strerror(errno));
    return RC_OK;
}

bool pidlock_is_there(const char *path, const struct pidlock *lock)
{
    struct stat ours;
    struct stat there;
    if (fstat(lock->fd, &ours) != 0)
        return true; /* unknown */
    if (stat(path, &there) != 0)
        return errno != ENOENT && errno != ENOTDIR;
    return ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

void pidlock_mark_clean(int fd)
{
    char text[TEXT_MAX];
    int len = snprintf(text, sizeof(text), "%d\n%s\n", (int)read_pid(fd), CLEAN.ptr);
    /* A note that is cut short is no note. */
    if (pwrite(fd, text, (size_t)len, 0) != len)
        log_warn("the lock file could not be marked as left in order", "error", strerror(errno),
                 NULL);
}

/* ---- who it was */

static const char *id_path(const char *path, char ret_path[PATH_MAX_BYTES])
{
    snprintf(ret_path, PATH_MAX_BYTES, "%s.id", path);
    return ret_path;
}

/* The worker that process pid was, since this machine was started; 0: unknown. */
static uint64_t read_id(const char *path, pid_t pid)
{
    CLEANUP(arena_free) struct arena arena = {0};
    char name[PATH_MAX_BYTES];
    struct str text;
    int64_t who;
    uint64_t id;
    if (file_read(id_path(path, name), TEXT_MAX, &arena, &text, NULL) != RC_OK)
        return 0;
    text = str_trim(text);
    struct str worker = str_cut(&text, ' ');
    struct str boot_id = str_cut(&text, ' ');
    bool same = boot_id.len > 0 && str_eq(boot_id, machine_boot_id(&arena)) &&
                str_to_i64(text, &who) && who == pid;
    return same && id_parse(worker, ID_WORKER, &id, NULL) == RC_OK ? id : 0;
}

/* In another file first: it is there whole, or the one before it is. */
static bool write_id(const char *name, struct str text)
{
    char new_name[PATH_MAX_BYTES + 8];
    snprintf(new_name, sizeof(new_name), "%s.new", name);
    int fd = open(new_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    bool written = write(fd, text.ptr, text.len) == (ssize_t)text.len;
    return close(fd) == 0 && written && rename(new_name, name) == 0;
}

void pidlock_name(const char *path, uint64_t worker_id)
{
    CLEANUP(arena_free) struct arena arena = {0};
    char id[ID_TEXT_MAX];
    char name[PATH_MAX_BYTES];
    struct str boot_id = machine_boot_id(&arena);
    id_format(id, ID_WORKER, worker_id);
    struct str text = arena_printf(&arena, "%s %.*s %d\n", id, STR_ARG(boot_id), (int)getpid());
    if (!write_id(id_path(path, name), text))
        log_warn(
            "the worker's id could not be written beside its lock; the next worker cannot name it",
            "file", name, "error", strerror(errno), NULL);
}

/* Under the lock, before our own id is written into it. A predecessor that is not proven to be dead
 * is forgotten: the worker after us may find the same process id, and take our clean end for the
 * predecessor's. */
static enum rc find_dead(int fd, const char *path, uint64_t *ret_dead, struct err *err)
{
    struct note note = read_note(fd);
    char name[PATH_MAX_BYTES];
    *ret_dead = note.clean && machine_has_file(fd) ? read_id(path, note.pid) : 0;
    if (*ret_dead == 0 && unlink(id_path(path, name)) != 0 && errno != ENOENT)
        return err_set(err, RC_IO, "remove %s: %s", name, strerror(errno));
    return RC_OK;
}

enum rc pidlock_take(const char *path, struct pidlock *ret_lock, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(err, RC_IO, "open %s: %s", path, strerror(errno));
    enum rc rc = lock(fd, path, err);
    uint64_t dead = 0;
    if (rc == RC_OK)
        rc = find_dead(fd, path, &dead, err);
    if (rc == RC_OK)
        rc = write_pid(fd, path, err);
    if (rc != RC_OK) {
        close(fd);
        return rc;
    }
    /* It stays dead: a worker that follows us before we are registered may say so, too. */
    if (dead != 0)
        pidlock_name(path, dead);
    *ret_lock = (struct pidlock){.fd = fd, .dead = dead};
    return RC_OK;
}
