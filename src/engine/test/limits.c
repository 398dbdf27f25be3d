#include "engine/test/limits.h"

const char *key_at(enum limit_kind kind, uint32_t partition, unsigned which)
{
    static char keys[16][16];
    static unsigned next;
    char *key = keys[next++ % COUNT_OF(keys)];
    char full[17];
    for (unsigned i = 0;; i++) {
        snprintf(key, sizeof keys[0], "k%u", i);
        snprintf(full, sizeof full, "%d%s", (int)kind, key);
        if (partition_of_bucket(2, inbox_home(str_c(full))) == partition && which-- == 0)
            return key;
    }
}

void limit_queue(struct world *w, const char *name, uint32_t concurrency)
{
    struct asked *asked = ask(w, CMD_QUEUE);
    asked->cmd.queue = (struct queue_wish){
        .name = str_c(name), .set_concurrency = true, .concurrency = concurrency};
    world_turn(w);
}

void limit_team(struct world *w, const char *name, uint32_t concurrency)
{
    struct asked *asked = ask(w, CMD_TEAM);
    asked->cmd.team = (struct team_wish){
        .name = str_c(name), .set_concurrency = true, .concurrency = concurrency};
    world_turn(w);
}

void pause_queue(struct world *w, const char *name, bool pause)
{
    struct asked *asked = ask(w, CMD_QUEUE);
    asked->cmd.queue =
        (struct queue_wish){.name = str_c(name), .run = pause ? QUEUE_PAUSE : QUEUE_RESUME};
    world_turn(w);
}
