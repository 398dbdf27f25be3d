#include "server/turn/rules.h"
#include "loop/zones.h"
#include "wire/spec/spec_json.h"

static enum rc find_zone(struct zones *zones, const struct spec *spec, const struct zone **ret_zone,
                         struct err *err)
{
    *ret_zone = zone_utc();
    if (spec->when != WHEN_CRON || str_eq(spec->zone, STR("UTC")))
        return RC_OK;
    if (zones == NULL)
        return err_set(err, RC_INVALID, "no time zone but UTC is known here");
    return zones_find(zones, spec->zone, ret_zone, err);
}

enum rc rules_make(struct zones *zones, const struct spec *spec, struct arena *arena,
                   struct rules *ret_rules, struct err *err)
{
    struct rules rules = spec_rules(spec);
    if (spec_recurs(spec)) {
        const struct zone *zone;
        TRY(find_zone(zones, spec, &zone, err));
        struct schedule *schedule = ARENA_NEW(arena, struct schedule);
        *schedule = spec_schedule(spec, zone);
        rules.schedule = schedule;
    }
    *ret_rules = rules;
    return RC_OK;
}

struct submission rules_submission(const struct spec *spec, const struct rules *rules,
                                   struct str owner, struct arena *arena)
{
    return (struct submission){
        .name = spec->name,
        .owner = owner,
        .team = spec->team,
        .tags = spec_tags_text(spec, arena),
        .spec = spec_text(spec, arena),
        .payload = spec->payload,
        .rules = *rules,
        .when = spec->when,
        .when_ms = spec->when_ms,
        .depends_on = spec->depends_on,
        .depends_count = spec->depends_count,
    };
}

const struct zone *rules_zone(void *arg, struct str name)
{
    const struct zone *zone;
    struct err err;
    if (str_eq(name, STR("UTC")))
        return zone_utc();
    return arg != NULL && zones_find(arg, name, &zone, &err) == RC_OK ? zone : NULL;
}
