#include "engine/test/crew.h"

#include "engine/test/jobs.h"

struct crew crew_hire(struct world *w, uint32_t slots)
{
    return (struct crew){.fake = HIRE(w, .slots = slots), .slots = slots};
}

void crew_take(struct crew *c)
{
    if (c->poll != NULL && c->poll->answers > 0) {
        fake_take(&c->fake, c->poll);
        asked_free(c->poll);
        c->poll = NULL;
    }
}

void crew_poll(struct world *w, struct crew *c)
{
    crew_take(c);
    if (c->poll == NULL)
        c->poll = ask_poll(w, &c->fake, c->slots - (uint32_t)c->fake.held_count);
}

void crew_end(struct world *w, struct crew *c, size_t i, enum outcome outcome)
{
    struct poll_lease lease = {.exec_id = c->fake.held[i].exec_id, .token = c->fake.held[i].token};
    fake_drop(&c->fake, lease.exec_id);
    if (c->poll != NULL) { /* the one that is parked is answered with it */
        struct asked *hangup = ask_about(w, CMD_HANGUP, c->fake.id);
        hangup->cmd.target.seq = c->fake.seq;
        world_turn(w);
        asked_free(hangup);
        crew_take(c);
    }
    struct asked *poll = ask_poll(w, &c->fake, 0);
    add_result(poll, &lease, outcome);
    world_turn(w);
    assert_int_equal(poll->answers, 1);
    asked_free(poll);
}
