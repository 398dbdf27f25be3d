/* temp_dir_test.h - a directory for one test, gone with everything in it afterwards. */
#pragma once
#include "base/mem.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Owned by the caller, who gives it to temp_dir_free. */
static inline char *temp_dir_new(void)
{
    const char *base = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/belfry-test-XXXXXX", base != NULL ? base : "/tmp");
    char *made = mkdtemp(path);
    assert(made != NULL);
    return mem_dup(path, strlen(path));
}

static inline void temp_dir_free(char *dir)
{
    DIR *open_dir = opendir(dir);
    for (struct dirent *entry; open_dir != NULL && (entry = readdir(open_dir)) != NULL;)
        (void)unlinkat(dirfd(open_dir), entry->d_name, 0); /* "." and ".." refuse */
    if (open_dir != NULL)
        closedir(open_dir);
    (void)rmdir(dir);
    free(dir);
}
