#include "server/system/checks.h"

#include <inttypes.h>

static const struct str status_names[] = {
    [CHECK_OK] = STR_INIT("ok"),
    [CHECK_WARNING] = STR_INIT("warning"),
    [CHECK_FAILED] = STR_INIT("failed"),
};

struct str check_status_name(enum check_status status)
{
    return status_names[status];
}

enum check_status check_status_parse(struct str word)
{
    for (size_t i = 0; i < COUNT_OF(status_names); i++) {
        if (str_eq(status_names[i], word))
            return (enum check_status)i;
    }
    return CHECK_OK;
}

struct check *checks_add(struct checks *c, const char *name, struct str detail)
{
    struct check *check = VEC_PUSH(c->arena, &c->list);
    *check = (struct check){.name = name, .detail = detail};
    return check;
}

void check_find(struct check *check, enum check_status status, const char *advice)
{
    if (status <= check->status)
        return;
    check->status = status;
    check->advice = advice;
}

void check_print(struct json_writer *w, const struct check *check, struct str server)
{
    json_open(w);
    json_put_str(w, "server", server);
    json_put_str(w, "name", str_c(check->name));
    json_put_str(w, "status", check_status_name(check->status));
    json_put_str(w, "detail", check->detail);
    json_put_text(w, "advice", check->advice == NULL ? STR("") : str_c(check->advice));
    json_close(w);
}

struct str checks_size(struct arena *arena, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    uint64_t tenths = bytes * 10;
    for (; tenths >= 10240 && unit + 1 < COUNT_OF(units); unit++)
        tenths /= 1024;
    if (unit == 0)
        return arena_printf(arena, "%" PRIu64 " bytes", bytes);
    return arena_printf(arena, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10, units[unit]);
}
