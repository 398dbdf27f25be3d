#include "engine/test/wish.h"

#include "engine/test/table.h"

static int64_t cut_number(struct str *rest)
{
    int64_t value = -1;
    assert_true(str_to_i64(str_cut(rest, '|'), &value));
    return value;
}

/* NULL when there is none; cron goes by UTC. */
static const struct schedule *schedule_of(struct arena *arena, int64_t every_ms, struct str text)
{
    struct schedule *schedule = ARENA_NEW(arena, struct schedule);
    struct cron cron;
    struct str zone;
    struct err err;
    if (every_ms > 0) {
        *schedule = schedule_every(0, every_ms);
        return schedule;
    }
    if (text.len == 0)
        return NULL;
    assert_int_equal(cron_parse(text, &(struct cron_options){0}, &cron, &zone, &err), RC_OK);
    *schedule = schedule_cron(0, &cron, &(struct cron_clock){.zone = zone_utc()});
    return schedule;
}

/* "name,name=hold" */
static const struct calendar_wish *calendars_of(struct arena *arena, struct str text,
                                                size_t *ret_count)
{
    VEC(struct calendar_wish) wishes = {0};
    while (text.len > 0) {
        struct str one = str_cut(&text, ',');
        struct calendar_wish *wish = VEC_PUSH(arena, &wishes);
        wish->name = str_cut(&one, '=');
        wish->has_policy = one.len > 0;
        assert_true(one.len == 0 || words_parse(&calendar_policy_words, one, &wish->policy));
    }
    *ret_count = wishes.len;
    return wishes.items;
}

enum rc read_calendar(void *arg, const struct calendar_rec *rec, struct arena *arena,
                      struct almanac *ret_almanac, struct err *err)
{
    (void)arg;
    struct calendar_draft draft = {.arena = arena};
    struct str rest = rec->document;
    *ret_almanac = (struct almanac){0};
    if (!words_parse(&calendar_policy_words, str_cut(&rest, ' '), &ret_almanac->policy))
        return err_set(err, RC_INVALID, "a damaged calendar");
    while (rest.len > 0) {
        struct str span = str_cut(&rest, ' ');
        int64_t begin_s = -1;
        int64_t end_s = -1;
        assert_true(str_to_i64(str_cut(&span, '-'), &begin_s) && str_to_i64(span, &end_s));
        TRY(calendar_add_moments(&draft, (struct calendar_span){begin_s, end_s}, err));
    }
    ret_almanac->entry_count = (uint32_t)draft.entry_count;
    ret_almanac->calendar = calendar_make(&draft);
    return RC_OK;
}

static struct breaker_wish breaker_of(struct str text)
{
    bool none = str_eq(text, STR("none"));
    return (struct breaker_wish){.name = none ? STR("") : text, .none = none};
}

enum rc read_rules(void *arg, const struct job_rec *job, struct arena *arena,
                   struct rules *ret_rules, struct err *err)
{
    (void)arg;
    struct str rest = job->spec;
    if (str_eq(rest, STR("damaged")))
        return err_set(err, RC_CORRUPT, "a damaged spec");
    *ret_rules = (struct rules){.queue = str_cut(&rest, '|'), .handler = str_cut(&rest, '|')};
    ret_rules->priority = (int32_t)cut_number(&rest);
    ret_rules->retry = (struct retry){
        .max_retries = (uint32_t)cut_number(&rest),
        .policy = (enum retry_policy)cut_number(&rest),
        .delay_ms = cut_number(&rest),
        .max_delay_ms = HOUR_MS,
    };
    ret_rules->concurrency.key = str_cut(&rest, '|');
    ret_rules->concurrency.limit = (uint32_t)cut_number(&rest);
    ret_rules->rate.key = str_cut(&rest, '|');
    ret_rules->rate.limit = (uint32_t)cut_number(&rest);
    ret_rules->rate.per_ms = cut_number(&rest);
    int64_t every_ms = cut_number(&rest);
    struct str cron = str_cut(&rest, '|');
    ret_rules->overlap = (enum overlap)cut_number(&rest);
    ret_rules->misfire.policy = (enum misfire_policy)cut_number(&rest);
    ret_rules->misfire.grace_ms = cut_number(&rest);
    ret_rules->misfire.limit = (uint32_t)cut_number(&rest);
    ret_rules->stagger_ms = cut_number(&rest);
    ret_rules->timeout_ms = cut_number(&rest);
    ret_rules->retry.retry_on = (uint32_t)cut_number(&rest);
    ret_rules->team = str_cut(&rest, '|');
    ret_rules->start_within_ms = cut_number(&rest);
    ret_rules->expires_in_ms = cut_number(&rest);
    ret_rules->sla.expected_ms = cut_number(&rest);
    ret_rules->sla.max_ms = cut_number(&rest);
    ret_rules->sla.policy = (enum sla_policy)cut_number(&rest);
    ret_rules->unique.key = str_cut(&rest, '|');
    ret_rules->unique.until_start = cut_number(&rest) != 0;
    ret_rules->unique.on_conflict = (enum on_conflict)cut_number(&rest);
    ret_rules->unique.keep_ms = cut_number(&rest);
    ret_rules->unique.has_keep = ret_rules->unique.keep_ms > 0;
    ret_rules->schedule = schedule_of(arena, every_ms, cron);
    ret_rules->calendars = calendars_of(arena, str_cut(&rest, '|'), &ret_rules->calendar_count);
    struct str kind = str_cut(&rest, '|');
    ret_rules->delayed = str_eq(kind, STR("1"));
    ret_rules->expects = str_eq(kind, STR("2"));
    ret_rules->breaker = breaker_of(str_cut(&rest, '|'));
    return RC_OK;
}

void wish_fill(struct arena *arena, struct submission *item, const struct wish *wish)
{
    item->rules = (struct rules){
        .queue = str_c(wish->queue == NULL ? "default" : wish->queue),
        .handler = str_c(wish->handler),
        .team = str_c(wish->team),
        .priority = wish->priority > 0    ? wish->priority
                    : wish->priority == 0 ? SPEC_PRIORITY_DEFAULT
                                          : 0,
        .retry = {.max_retries = wish->retries,
                  .policy = wish->policy,
                  .delay_ms = wish->retry_ms,
                  .max_delay_ms = HOUR_MS,
                  .retry_on = wish->retry_on},
        .timeout_ms = wish->timeout_ms,
        .concurrency = {.key = str_c(wish->key), .limit = wish->limit},
        .rate = {.key = str_c(wish->rate), .limit = wish->starts, .per_ms = wish->per_ms},
        .schedule = schedule_of(arena, wish->every_ms, str_c(wish->cron)),
        .overlap = wish->overlap,
        .delayed = wish->when == WHEN_DELAY,
        .expects = wish->expects,
        .misfire = wish->misfire.limit == 0 ? misfire_default : wish->misfire,
        .stagger_ms = wish->stagger_ms,
        .start_within_ms = wish->start_within_ms,
        .expires_in_ms = wish->expires_in_ms,
        .sla = wish->sla,
        .unique = {.key = str_c(wish->unique),
                   .until_start = wish->until_start,
                   .on_conflict = wish->on_conflict,
                   .has_keep = wish->keep_ms > 0,
                   .keep_ms = wish->keep_ms},
        .breaker = breaker_of(str_c(wish->breaker)),
    };
    item->rules.calendars =
        calendars_of(arena, str_c(wish->calendars), &item->rules.calendar_count);
    item->once.key = str_c(wish->once);
    item->once.hash = str_c(wish->hash == NULL ? "h" : wish->hash);
    const struct misfire *misfire = &item->rules.misfire;
    item->name = str_c(wish->name);
    item->owner = STR("admin");
    item->team = item->rules.team;
    item->tags = STR("\na:b\n");
    item->payload = STR("{\"n\":1}");
    item->when = wish->when;
    item->when_ms = wish->when_ms;
    if (wish->after != NULL) {
        size_t count = wish->after_count > 0 ? wish->after_count : 1;
        item->depends_on = ARENA_ARRAY(arena, struct dependency_wish, count);
        memcpy(item->depends_on, wish->after, count * sizeof *wish->after);
        item->depends_count = count;
    }
    item->spec = arena_printf(
        arena,
        "%.*s|%.*s|%" PRId32 "|%" PRIu32 "|%d|%" PRId64 "|%.*s|%" PRIu32 "|%.*s|%" PRIu32
        "|%" PRId64 "|%" PRId64 "|%s|%d|%d|%" PRId64 "|%" PRIu32 "|%" PRId64 "|%" PRId64 "|%" PRIu32
        "|%.*s|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%d|%.*s|%d|%d|%" PRId64
        "|%s|%d|%s|%*s",
        STR_ARG(item->rules.queue), STR_ARG(item->rules.handler), item->rules.priority,
        wish->retries, (int)wish->policy, wish->retry_ms, STR_ARG(item->rules.concurrency.key),
        wish->limit, STR_ARG(item->rules.rate.key), wish->starts, wish->per_ms, wish->every_ms,
        wish->cron == NULL ? "" : wish->cron, (int)wish->overlap, (int)misfire->policy,
        misfire->grace_ms, misfire->limit, wish->stagger_ms, wish->timeout_ms, wish->retry_on,
        STR_ARG(item->rules.team), wish->start_within_ms, wish->expires_in_ms,
        wish->sla.expected_ms, wish->sla.max_ms, (int)wish->sla.policy,
        STR_ARG(item->rules.unique.key), wish->until_start, (int)wish->on_conflict, wish->keep_ms,
        wish->calendars == NULL ? "" : wish->calendars, item->rules.delayed + 2 * wish->expects,
        wish->breaker == NULL ? "" : wish->breaker, (int)wish->spec_bytes, "");
}
