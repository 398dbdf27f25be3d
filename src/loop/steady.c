#include "loop/steady.h"

int64_t steady_ms(struct steady *s, int64_t wall_ms, int64_t boot_ms)
{
    if (wall_ms >= s->now_ms) {
        *s = (struct steady){.now_ms = wall_ms, .boot_ms = boot_ms};
        return wall_ms;
    }
    int64_t quarters = (boot_ms - s->boot_ms) / 4;
    s->now_ms += 3 * quarters;
    s->boot_ms += 4 * quarters; /* what is left over counts the next time */
    return s->now_ms;
}
