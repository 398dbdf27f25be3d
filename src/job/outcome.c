#include "job/outcome.h"

#include <assert.h>

static const struct str outcome_names[OUTCOMES] = {
    [OUTCOME_NONE] = STR_INIT("none"),       [OUTCOME_SUCCEEDED] = STR_INIT("succeeded"),
    [OUTCOME_FAILED] = STR_INIT("failed"),   [OUTCOME_PERMANENT] = STR_INIT("permanent"),
    [OUTCOME_TIMEOUT] = STR_INIT("timeout"), [OUTCOME_STOPPED] = STR_INIT("stopped"),
    [OUTCOME_LOST] = STR_INIT("lost"),       [OUTCOME_RETURNED] = STR_INIT("returned"),
};

struct str outcome_name(enum outcome outcome)
{
    assert(outcome < OUTCOMES);
    return outcome_names[outcome];
}

bool outcome_parse(struct str name, enum outcome *ret_outcome)
{
    for (int i = OUTCOME_NONE + 1; i < OUTCOMES; i++) {
        if (str_eq(outcome_names[i], name)) {
            *ret_outcome = (enum outcome)i;
            return true;
        }
    }
    return false;
}
