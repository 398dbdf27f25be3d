/* checkpoint.h - what one attempt leaves for the next attempt of its execution, as a value.
 *
 * A command writes whatever it wants to find again into the file BELFRY_CHECKPOINT_FILE; its worker
 * brings the bytes to the server, and the worker that runs the next attempt fetches them. There is
 * one per execution, the newest. Its bytes are the command's own: they need not be text. */
#pragma once
#include "base/str.h"

struct checkpoint {
    uint64_t exec_id;
    uint64_t token;   /* of the attempt that wrote it */
    int64_t at_ms;    /* wall clock: when it was kept */
    struct str bytes; /* empty: there is none, or it was taken back */
};
