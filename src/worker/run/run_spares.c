#include "worker/run/run_spares.h"
#include "worker/spawn/tmpdir.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

/* False when it is too long to be a path. */
static bool path_of(char path[PATH_MAX], const char *tmp_dir, unsigned number)
{
    return snprintf(path, PATH_MAX, "%s/spare-%u", tmp_dir, number) < PATH_MAX;
}

bool run_spares_take(struct run_spares *spares, const char *tmp_dir, const char *dir)
{
    char path[PATH_MAX];
    while (spares->count > 0) { /* systems clean /tmp: a spare may be gone */
        if (path_of(path, tmp_dir, spares->numbers[--spares->count]) &&
            renameat2(AT_FDCWD, path, AT_FDCWD, dir, RENAME_NOREPLACE) == 0)
            return true;
    }
    return false;
}

bool run_spares_keep(struct run_spares *spares, const char *tmp_dir, const char *dir)
{
    char path[PATH_MAX];
    if (spares->count == RUN_SPARES_MAX || !path_of(path, tmp_dir, ++spares->last) ||
        renameat2(AT_FDCWD, dir, AT_FDCWD, path, RENAME_NOREPLACE) != 0)
        return false;
    if (!tmpdir_is_new(path)) { /* asked only now, when nobody can put anything there by name */
        (void)renameat2(AT_FDCWD, path, AT_FDCWD, dir, RENAME_NOREPLACE);
        return false;
    }
    spares->numbers[spares->count++] = spares->last;
    return true;
}
