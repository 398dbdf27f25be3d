#include "faults.h"
#include "coverage.h"
#include "world.h"

static const struct {
    uint32_t most;
    const char *words;
} faults[FAULT_KINDS] = {
#define FAULT_ROW(name, most, words) [FAULT_##name] = {most, words},
    FAULTS(FAULT_ROW)};

void faults_draw(struct world *w)
{
    bool calm = pick(w, 20) == 0; /* a day on which all goes well must go well, too */
    calm |= w->scene.storms_ms > 0 || w->scene.clocks; /* what goes wrong then comes one by one */
    int count = w->cluster ? FAULT_KINDS : FAULTS_ALONE;
    if (w->scene
            .lags) /* who has lost turns must live to notice; callers and workers may do as they like */
        count = FAULT_CLOCK_FORWARD;
    for (int i = 0; i < count; i++) {
        bool never = calm || pick(w, 2) == 0;
        w->faults.permille[i] = never ? 0 : 1 + (uint32_t)pick(w, faults[i].most);
    }
}

static bool is_due(struct world *w, enum fault fault)
{
    return !w->healing && chance(w, w->faults.permille[fault]);
}

void fault_happens(struct world *w, enum fault fault)
{
    saw_fault(fault);
    SAY(w, "fault", "%s", faults[fault].words);
}

bool fault_strikes(struct world *w, enum fault fault)
{
    if (!is_due(w, fault))
        return false;
    fault_happens(w, fault);
    return true;
}

enum fault fault_of_turn(struct world *w, enum fault first, enum fault last)
{
    for (int i = first; i <= (int)last; i++) {
        if (is_due(w, (enum fault)i))
            return (enum fault)i;
    }
    return FAULT_NONE;
}

const char *fault_words(enum fault fault)
{
    return faults[fault].words;
}
