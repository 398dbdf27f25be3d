/* apply_file.h - the jobs that a file describes, for `belfry apply`.
 *
 * An array of documents, an object {"jobs": […]}, one document, or one on each line. Each has a
 * name of its own, and is given the tag by which a later apply knows what an earlier one made. */
#pragma once
#include "base/map.h"
#include "cli/cli.h"

#define APPLY_TAG "belfry.apply"

struct apply_job {
    struct str name;
    struct str document; /* with the tag in it */
    struct str fresh;    /* the same without what is null, for a job that is not there yet */
};

struct apply_file {
    struct apply_job *jobs; /* in the run's arena */
    size_t count;
    struct strmap names; /* owned; name -> struct apply_job */
};

/* RC_CORRUPT when it is no such file. `whole`: documents are all that the jobs are to be. */
enum rc apply_file_read(struct cli *cli, const char *path, const char *set, bool whole,
                        struct apply_file *ret_file, struct err *err);
void apply_file_free(struct apply_file *file);
