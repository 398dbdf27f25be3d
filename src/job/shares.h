/* shares.h - which server should have which partitions.
 *
 * Every server works this out for itself, from what the store says about all of them, and acts on
 * its own part only: it takes what is free and meant for it, and gives back what is meant for
 * somebody else. From the same view all come to the same plan, so no server has to lead; where
 * views differ for a moment, epochs keep two servers from having one partition, and the next view
 * settles it.
 *
 * Shares are equal, give or take one. A share in its place stays there: only shares that are too
 * many somewhere, or belong to no node that is there, move. Plain values: no I/O, no clock. */
#pragma once
#include "job/partition.h"

enum { SHARES_NODES_MAX = 256, SHARES_NOBODY = -1 };

struct shares_node {
    bool silent;   /* for longer than the lease: it may be deprived */
    bool draining; /* gives all, takes nothing */
};

struct shares_place {
    int owner;  /* a node; SHARES_NOBODY: free, or of a server that is forgotten */
    int former; /* its owner before, for first claims */
};

struct shares_view {
    int me;
    /* I have only just come back after silence of my own. So may all others, and who is silent
     * still may be back the next moment: first claim on what they had is theirs. */
    bool just_back;
    const struct shares_node *nodes; /* in the same order for everybody */
    int node_count;
    const struct shares_place *places;
    uint32_t partitions;
};

struct shares_plan {
    uint64_t take;             /* partitions: mine by right, and nobody's at the moment */
    uint64_t give;             /* I have them, and somebody else who is there should */
    int heirs[PARTITIONS_MAX]; /* the server that should have each; SHARES_NOBODY: none is there */
};

struct shares_plan shares_make(const struct shares_view *view);
