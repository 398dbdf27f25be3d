#include "job/dependency.h"

#include <assert.h>

const struct words dependency_type_words =
    WORDS([DEPENDS_SUCCESS] = "success", [DEPENDS_FAILURE] = "failure",
          [DEPENDS_COMPLETION] = "completion");

static const struct str state_names[DEPENDENCY_STATES] = {
    [DEPENDENCY_WAITING] = STR_INIT("waiting"),       [DEPENDENCY_MET] = STR_INIT("met"),
    [DEPENDENCY_IMPOSSIBLE] = STR_INIT("impossible"), [DEPENDENCY_MOOT] = STR_INIT("moot"),
    [DEPENDENCY_PER_SLOT] = STR_INIT("per_slot"),
};

struct str dependency_type_name(enum dependency_type type)
{
    return words_name(&dependency_type_words, type);
}

struct str dependency_state_name(enum dependency_state state)
{
    assert(state >= DEPENDENCY_WAITING && state < DEPENDENCY_STATES);
    return state_names[state];
}

enum dependency_state dependency_after(enum dependency_type type, enum job_state ended)
{
    assert(job_is_over(ended));
    bool met = type == DEPENDS_COMPLETION || (type == DEPENDS_SUCCESS && ended == JOB_COMPLETED) ||
               (type == DEPENDS_FAILURE && ended == JOB_FAILED);
    return met ? DEPENDENCY_MET : DEPENDENCY_IMPOSSIBLE;
}
