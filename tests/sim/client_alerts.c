#include "client_alerts.h"
#include "choice.h"
#include "model.h"
#include "net.h"
#include "trace.h"

#include <inttypes.h>

/* 0: there is none. */
static uint64_t some_alert(struct world *w)
{
    const struct model *m = &w->model;
    return m->told.len == 0 ? 0 : m->told.items[pick(w, m->told.len)].id;
}

/* As the alert_sender does, once a webhook has taken it: it reads those that are pending. */
static void mark(struct world *w)
{
    const struct model *m = &w->model;
    for (size_t i = m->told.len; i-- > 0;) {
        if (m->told.items[i].state != ALERT_PENDING || pick(w, 3) == 0)
            continue;
        struct call *call = call_new(w, CMD_ALERT_SENT, STR("server"));
        call->cmd.alert =
            (struct alert_mark){m->told.items[i].id, pick(w, 5) == 0 ? ALERT_GIVEN_UP : ALERT_SENT};
        net_send(w, call);
        return;
    }
}

static void acknowledge(struct world *w)
{
    uint64_t id = some_alert(w);
    struct call *call =
        call_new(w, CMD_ALERT_ACK, pick(w, 2) == 0 ? STR("key:ann") : STR("key:bob"));
    call->cmd.target.id = id == 0 || pick(w, 10) == 0 ? 4711 : id;
    call->cmd.target.reason = pick(w, 2) == 0 ? STR("on it") : STR("");
    SAY(w, "client", "acknowledges alert %" PRIu64, call->cmd.target.id);
    net_send(w, call);
}

/* A key that was told, the beginning of it or of many, or all. */
static struct str some_pattern(struct world *w)
{
    static const struct str beginnings[] = {STR_INIT("*"), STR_INIT("job_failed:*"),
                                            STR_INIT("start_late:*"), STR_INIT("slow:*")};
    const struct model *m = &w->model;
    if (m->alerts.len == 0 || pick(w, 3) == 0)
        return beginnings[pick(w, COUNT_OF(beginnings))];
    struct str key = m->alerts.items[pick(w, m->alerts.len)].key;
    if (pick(w, 3) > 0)
        return arena_str(&w->arena, key);
    struct str head = str_head(key, 1 + pick(w, key.len));
    return arena_printf(&w->arena, "%.*s*", STR_ARG(head));
}

static void silence(struct world *w)
{
    struct call *call = call_new(w, CMD_SILENCE, STR("key:ann"));
    struct silence_wish *wish = &call->cmd.silence_wish;
    wish->key = some_pattern(w);
    wish->reason = STR("a quiet day");
    if (pick(w, 2) == 0)
        wish->for_ms = pick_ms(w, 1, 60000);
    else /* some have passed */
        wish->until_ms = world_now(w).wall_ms + pick_ms(w, 0, 40000) - 5000;
    SAY(w, "client", "silences %.*s", STR_ARG(wish->key));
    net_send(w, call);
}

/* Also those that have gone. */
static void lift(struct world *w)
{
    const struct model *m = &w->model;
    struct call *call = call_new(w, CMD_LIFT_SILENCE, STR("key:bob"));
    call->cmd.target.id =
        m->silences.len == 0 ? 4711 : m->silences.items[pick(w, m->silences.len)].id;
    SAY(w, "client", "lifts silence %" PRIu64, call->cmd.target.id);
    net_send(w, call);
}

void client_alerts(struct world *w)
{
    switch (pick(w, 8)) {
    case 0:
    case 1:
    case 2: silence(w); break;
    case 3: lift(w); break;
    case 4: acknowledge(w); break;
    default: mark(w); break;
    }
}
