#include "worker/spawn/tmpdir.h"
#include "base/mem.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a directory itself: a block. Many file systems never make one smaller that had many
 * entries. */
enum { NEW_BYTES_MAX = 4096 };

char *tmpdir_name(const char *root)
{
    uint64_t random;
    ssize_t got = getrandom(&random, sizeof(random), 0);
    assert(got == sizeof(random)); /* so few bytes always come, and at once */
    (void)got;
    size_t size = strlen(root) + 64;
    char *path = mem_new(size);
    snprintf(path, size, "%s/belfry-worker-%016" PRIx64, root, random);
    return path;
}

enum rc tmpdir_make(const char *path, struct err *err)
{
    if (mkdir(path, 0700) != 0)
        return err_set(err, RC_IO, "make %s: %s", path, strerror(errno));
    return RC_OK;
}

static DIR *open_dir_at(int at_fd, const char *name)
{
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    DIR *dir = fdopendir(fd);
    if (dir == NULL)
        close(fd);
    return dir;
}

/* The next real entry, or NULL at the end. */
static const char *next_name(DIR *dir)
{
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            return entry->d_name;
    }
    return NULL;
}

bool tmpdir_is_new(const char *path)
{
    struct stat st;
    DIR *dir = open_dir_at(AT_FDCWD, path);
    if (dir == NULL)
        return false;
    bool is_new = fstat(dirfd(dir), &st) == 0 && (st.st_mode & 07777) == 0700 &&
                  st.st_size <= NEW_BYTES_MAX && next_name(dir) == NULL;
    closedir(dir);
    return is_new;
}

/* True when the entry is gone: a file, a link, or an empty directory. */
static bool remove_entry(int at_fd, const char *name)
{
    return unlinkat(at_fd, name, 0) == 0 || unlinkat(at_fd, name, AT_REMOVEDIR) == 0;
}

/* Commands choose the permissions of what they make. Only for directories: chmod follows links. */
static bool unlock(int at_fd, const char *name)
{
    struct stat st;
    return fstatat(at_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
           fchmodat(at_fd, name, 0700, 0) == 0;
}

/* Empties root/name: its files go, its directories move up into root, under names of our own. So
 * the tree becomes flat while it is removed, and its depth costs neither stack nor descriptors. */
static void flatten(int root_fd, const char *name, unsigned *serial)
{
    unlock(root_fd, name);
    DIR *dir = open_dir_at(root_fd, name);
    if (dir == NULL)
        return;
    for (const char *inner; (inner = next_name(dir)) != NULL;) {
        char target[32];
        if (remove_entry(dirfd(dir), inner))
            continue;
        unlock(dirfd(dir), inner); /* a directory must be writable to be moved */
        do {
            snprintf(target, sizeof(target), ".removed-%u", ++*serial);
        } while (renameat2(dirfd(dir), inner, root_fd, target, RENAME_NOREPLACE) != 0 &&
                 errno == EEXIST);
    }
    closedir(dir);
}

enum rc tmpdir_remove(const char *path, struct err *err)
{
    unsigned serial = 0;
    unlock(AT_FDCWD, path);
    DIR *root = open_dir_at(AT_FDCWD, path);
    if (root == NULL)
        return errno == ENOENT ? RC_OK : err_set(err, RC_IO, "open %s: %s", path, strerror(errno));

    for (bool progress = true; progress;) {
        progress = false;
        rewinddir(root);
        for (const char *name; (name = next_name(root)) != NULL;) {
            bool gone = remove_entry(dirfd(root), name);
            if (!gone) {
                flatten(dirfd(root), name, &serial);
                gone = remove_entry(dirfd(root), name);
            }
            progress |= gone;
        }
    }
    closedir(root);
    if (rmdir(path) != 0 && errno != ENOENT)
        return err_set(err, RC_IO, "remove %s: %s", path, strerror(errno));
    return RC_OK;
}
