/* phase.h - the parts of a turn, as they are measured. */
#pragma once

enum turn_phase {
    PHASE_GATHER,  /* commands are taken from those that wait */
    PHASE_ADMIT,   /* the store is asked for what memory does not hold */
    PHASE_DECIDE,  /* the engine decides, and says what is to be kept */
    PHASE_COMMIT,  /* the store keeps it */
    PHASE_PUBLISH, /* answers and events go to other threads */
    TURN_PHASES
};
