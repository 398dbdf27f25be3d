/* changes.h - the jobs of a file, as they would be applied to the world: those that are there are
 * edited, others are new. */
#pragma once
#include "cli/cli.h"
#include "job/command/command.h"
#include "plan/world.h"

struct change {
    struct world_job *job; /* NULL: it is new, or was over */
    struct str name;
    struct spec spec;
    struct submission item; /* its job_id is set once it is submitted */
    bool replan;            /* it says something else about when it runs */
    bool differs;           /* from what is there; false: nothing is to be done */
};

struct changes {
    struct arena arena; /* owned */
    VEC(struct change) items;
    struct str handlers; /* that only these jobs have, newline-separated */
    size_t added;
    size_t edited;
};

/* Reads the file as `belfry apply` does: fields that a job leaves out stay as they are, and null
 * removes one. RC_CORRUPT: it is no such file, or a job of it would be refused. */
enum rc changes_read(struct changes *changes, struct cli *cli, const struct world *world,
                     const char *path, struct err *err);
void changes_free(struct changes *changes); /* also usable as CLEANUP(changes_free) */
