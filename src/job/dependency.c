#include "job/dependency.h"

#include <assert.h>

static const struct str type_names[DEPENDS_TYPES] = {
    [DEPENDS_SUCCESS] = STR_INIT("success"),
    [DEPENDS_FAILURE] = STR_INIT("failure"),
    [DEPENDS_COMPLETION] = STR_INIT("completion"),
};

static const struct str state_names[DEPENDENCY_STATES] = {
    [DEPENDENCY_WAITING] = STR_INIT("waiting"),       [DEPENDENCY_MET] = STR_INIT("met"),
    [DEPENDENCY_IMPOSSIBLE] = STR_INIT("impossible"), [DEPENDENCY_MOOT] = STR_INIT("moot"),
    [DEPENDENCY_PER_SLOT] = STR_INIT("per_slot"),
};

struct str dependency_type_name(enum dependency_type type)
{
    assert(type >= DEPENDS_SUCCESS && type < DEPENDS_TYPES);
    return type_names[type];
}

bool dependency_type_parse(struct str name, enum dependency_type *ret_type)
{
    for (int i = DEPENDS_SUCCESS; i < DEPENDS_TYPES; i++) {
        if (str_eq(type_names[i], name)) {
            *ret_type = (enum dependency_type)i;
            return true;
        }
    }
    return false;
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
