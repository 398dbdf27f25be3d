/* Permits between two servers while anything happens, in any order: BELFRY_SEED chooses. */
#include "base/rng.h"
#include "engine/ready/limit.h"
#include "engine/ready/ready.h"
#include "engine/test/crew.h"
#include "engine/test/duo.h"
#include "engine/test/jobs.h"
#include "engine/test/limits.h"

struct soak {
    struct duo d;
    struct crew crews[2];
    struct rng rng;
    size_t submitted;
    size_t ended;
};

static struct world *side(struct soak *s, unsigned which)
{
    return which == 0 ? &s->d.a : &s->d.b;
}

/* No more run than each of their keys allows. */
static void check_limits(const struct soak *s)
{
    for (uint32_t home = 0; home < 2; home++) {
        for (unsigned which = 0; which < 2; which++) {
            struct str key = str_c(key_at(LIMIT_CONCURRENCY, home, which));
            const struct world *worlds[] = {&s->d.a, &s->d.b};
            size_t count = 0;
            for (size_t i = 0; i < 2; i++) {
                MAP_EACH(&worlds[i]->engine->execs, slot)
                {
                    const struct exec *x = slot->value;
                    const struct limit *limit =
                        x->job->v.def->rules.track->bars[BAR_CONCURRENCY].limit;
                    count += exec_is_leased(x->v.state) && limit != NULL && str_eq(limit->key, key);
                }
            }
            assert_true(count <= which + 1);
        }
    }
}

static void soak_submit(struct soak *s, unsigned on)
{
    unsigned which = (unsigned)rng_below(&s->rng, 2);
    bool rated = rng_below(&s->rng, 4) == 0;
    SUBMIT(side(s, on), .key = key_at(LIMIT_CONCURRENCY, (uint32_t)rng_below(&s->rng, 2), which),
           .limit = which + 1, .retries = 3,
           .rate = rated ? key_at(LIMIT_RATE, (uint32_t)rng_below(&s->rng, 2), 0) : NULL,
           .starts = rated ? 2 : 0, .per_ms = rated ? 1000 : 0,
           .team = rng_below(&s->rng, 3) == 0 ? "team" : NULL);
    s->submitted++;
}

static void soak_cancel(struct world *w)
{
    MAP_EACH(&w->table.live, slot)
    {
        ask_about(w, CMD_CANCEL_EXEC, slot->key);
        return;
    }
}

static void soak_end(struct soak *s, unsigned on, bool winding_down)
{
    struct crew *crew = &s->crews[on];
    bool fails = rng_below(&s->rng, 4) == 0 && !winding_down;
    if (crew->fake.held_count > 0)
        crew_end(side(s, on), crew, rng_below(&s->rng, crew->fake.held_count),
                 fails ? OUTCOME_FAILED : OUTCOME_SUCCEEDED);
}

static void soak_restart(struct soak *s, unsigned on)
{
    world_restart(side(s, on));
    crew_take(&s->crews[on]);
    s->crews[on].poll = NULL;
}

/* Server and worker die together, and nobody says what became of the runs: some become suspects. */
static void soak_crash(struct soak *s, unsigned on)
{
    world_restart(side(s, on));
    s->d.a.now_ms += s->d.a.options.lease_ms;
    s->d.b.now_ms += s->d.b.options.lease_ms;
    world_turn(side(s, on));
    s->crews[on] = crew_hire(side(s, on), 3);
}

static void soak_step(struct soak *s, bool winding_down)
{
    unsigned on = (unsigned)rng_below(&s->rng, 2);
    struct world *w = side(s, on);
    uint64_t dice = rng_below(&s->rng, 100);
    if (dice < 20 && !winding_down) {
        soak_submit(s, on);
    } else if (dice < 40) {
        crew_poll(w, &s->crews[on]);
    } else if (dice < 60) {
        soak_end(s, on, winding_down);
    } else if (dice < 63 && !winding_down) {
        soak_cancel(w);
    } else if (dice < 66) {
        soak_restart(s, on);
    } else if (dice < 67 && !winding_down) {
        soak_crash(s, on);
    } else if (dice < 75) {
        s->d.a.now_ms += 700;
        s->d.b.now_ms += 700;
    }
    if (rng_below(&s->rng, 2) == 0)
        engine_mail(w->engine);
    world_turn(w);
    crew_take(&s->crews[on]);
    check_limits(s);
}

TEST(whatever_happens_no_limit_is_exceeded_and_none_is_lost)
{
    const char *seed = getenv("BELFRY_SEED");
    struct soak *s = MEM_NEW(struct soak);
    struct engine_options options = engine_defaults;
    options.breaker.percent = 0;
    s->rng.state = seed == NULL ? 1 : strtoull(seed, NULL, 10);
    duo_init(&s->d, &options);
    limit_team(&s->d.a, "team", 2);
    limit_team(&s->d.b, "team", 2);
    s->crews[0] = crew_hire(&s->d.a, 3);
    s->crews[1] = crew_hire(&s->d.b, 3);
    for (int i = 0; i < 3000; i++)
        soak_step(s, false);
    for (int i = 0; i < 20000 && s->d.a.table.live.len + s->d.b.table.live.len > 0; i++) {
        s->d.a.now_ms += 50;
        s->d.b.now_ms += 50;
        soak_step(s, true);
    }
    if (s->d.a.table.live.len + s->d.b.table.live.len > 0) {
        struct buf out = BUF(TEXT_MAX);
        engine_dump(s->d.a.engine, &out);
        buf_printf(&out, "-------------------- b\n");
        engine_dump(s->d.b.engine, &out);
        fwrite(out.ptr, 1, out.len, stderr);
    }
    assert_int_equal(s->d.a.table.live.len + s->d.b.table.live.len, 0);
    duo_settle(&s->d);
    assert_int_equal(s->d.a.table.permits.len + s->d.b.table.permits.len, 0);
    print_message("%zu jobs, %llu messages\n", s->submitted, (unsigned long long)s->d.box.numbers);
    duo_free(&s->d);
    free(s);
}
