/* Workers are few and live with the server alone, so the list is looked through here. */
#include "base/id.h"
#include "cli/api.h"

struct search {
    struct str text;
    struct id_part part;
    bool is_part;
    struct str id; /* of the one that was found last */
    size_t found;
};

static bool fits(const struct search *s, const struct json *worker)
{
    uint64_t id;
    if (str_eq(api_text(worker, STR("name")), s->text))
        return true;
    if (!s->is_part || id_parse(api_text(worker, STR("worker_id")), ID_WORKER, &id, NULL) != RC_OK)
        return false;
    return id >= s->part.min && id < s->part.end && (id & s->part.mask) == s->part.tail;
}

static void look(void *arg, const struct json *worker)
{
    struct search *s = arg;
    if (!fits(s, worker))
        return;
    s->id = api_text(worker, STR("worker_id"));
    s->found++;
}

enum rc api_worker_id(struct cli *cli, struct str text, struct str *ret_id, struct err *err)
{
    static const struct api_list all = {.path = "/workers", .key = "workers", .whole = true};
    struct search search = {.text = text};
    uint64_t ignored;
    *ret_id = text;
    if (id_parse(text, ID_WORKER, &ignored, NULL) == RC_OK)
        return RC_OK;
    search.is_part = id_part_parse(text, ID_WORKER, &search.part);
    TRY(api_list(cli, &all, look, &search, NULL, err));
    if (search.found == 0)
        return err_set(err, RC_NOT_FOUND, "there is no worker '%.*s'; see: belfry workers",
                       STR_ARG(text));
    if (search.found > 1)
        return err_set(err, RC_INVALID,
                       "'%.*s' is %zu workers; say the id of one of them (belfry workers)",
                       STR_ARG(text), search.found);
    *ret_id = search.id;
    return RC_OK;
}
