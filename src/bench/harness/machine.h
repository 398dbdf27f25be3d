/* machine.h - what a figure was measured on: without it a figure says nothing. */
#pragma once
#include "base/arena.h"

struct machine {
    uint32_t cores;
    struct str cpu;         /* "Intel(R) Xeon(R) ..."; empty when the system does not say */
    struct str kernel;      /* "Linux 6.1.0" */
    uint64_t memory_bytes;  /* of all of it */
    double load;            /* tasks that wanted to run during the last minute: others at work */
    struct str file_system; /* below the temporary directory: "ext4" */
    uint64_t sync_us;       /* median of writing a page there and having it synced */
};

/* Texts live in the arena. dir is where the databases will be. */
enum rc machine_look(const char *dir, struct arena *arena, struct machine *ret_machine,
                     struct err *err);

/* Processor time that was used on this machine since it started, by anybody; 0 when the system does
 * not say. The difference of two moments tells how much company a measurement had. */
int64_t machine_cpu_us(void);
