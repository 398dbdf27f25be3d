/* system_zones.h - all zones of this system, for tests that try every one.
 *
 * Those are the names in tzdata.zi, as far as they are there: that list has old names too, which
 * some systems keep in a package of their own. */
#pragma once
#include "base/test/test.h"
#include "base/vec.h"
#include "loop/file.h"
#include "loop/zones.h"

#define SYSTEM_ZONES_DIR "/usr/share/zoneinfo"

struct system_zone {
    const char *name;
    const struct zone *zone;
};

struct system_zones {
    struct zones *zones;
    struct arena arena;
    VEC(struct system_zone) all;
};

static inline void system_zones_add(struct system_zones *s, struct str name)
{
    struct err err = {0};
    const struct zone *zone;
    enum rc rc = zones_find(s->zones, name, &zone, &err);
    if (rc == RC_OK)
        *VEC_PUSH(&s->arena, &s->all) = (struct system_zone){arena_zstr(&s->arena, name), zone};
    else if (rc != RC_INVALID)
        fail_msg("%s", err.text);
}

/* "Z Europe/Berlin ..." is a zone, "L Europe/Berlin Arctic/Longyearbyen" a link. */
static inline void system_zones_open(struct system_zones *s)
{
    struct str text;
    struct err err = {0};
    *s = (struct system_zones){.zones = zones_new(SYSTEM_ZONES_DIR)};
    if (file_read(SYSTEM_ZONES_DIR "/tzdata.zi", 1 << 20, &s->arena, &text, &err))
        fail_msg("%s", err.text);
    while (text.len > 0) {
        struct str line = str_cut(&text, '\n');
        struct str kind = str_cut(&line, ' ');
        struct str first = str_cut(&line, ' ');
        if (str_eq(kind, STR("Z")))
            system_zones_add(s, first);
        else if (str_eq(kind, STR("L")))
            system_zones_add(s, str_cut(&line, ' '));
    }
    assert_true(s->all.len > 300);
}

static inline void system_zones_close(struct system_zones *s)
{
    zones_free(s->zones);
    arena_free(&s->arena);
}

static inline const struct zone *system_zone(const struct system_zones *s, const char *name)
{
    const struct zone *zone;
    struct err err = {0};
    if (zones_find(s->zones, str_c(name), &zone, &err))
        fail_msg("%s", err.text);
    return zone;
}
