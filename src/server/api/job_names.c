#include "server/api/job_names.h"
#include "base/map.h"
#include "store/store.h"

static bool has_named(const struct request *r)
{
    for (size_t i = 0; i < r->cmd.submit.count; i++) {
        const struct submission *item = &r->cmd.submit.items[i];
        for (size_t k = 0; k < item->depends_count; k++) {
            if (item->depends_on[k].name.len > 0)
                return true;
        }
    }
    return false;
}

/* The meaning of a name; of a job of the same submission the turn knows the id. */
struct meaning {
    bool is_own;
    uint64_t job_id; /* 0: of nobody */
};

static enum rc find_meaning(struct request *r, struct reader *reader, struct strmap *known,
                            struct str name, const struct meaning **ret_meaning)
{
    struct meaning *meaning = strmap_get(known, name);
    if (meaning == NULL) {
        meaning = ARENA_NEW(r->arena, struct meaning);
        enum rc rc = reader->ops->find_named(reader, name, &meaning->job_id, &r->err);
        if (rc != RC_OK && rc != RC_NOT_FOUND)
            return rc;
        strmap_put(known, name, meaning);
    }
    *ret_meaning = meaning;
    return RC_OK;
}

static enum rc resolve_item(struct request *r, struct reader *reader, struct strmap *known,
                            struct submission *item)
{
    for (size_t i = 0; i < item->depends_count; i++) {
        struct dependency_wish *wish = &item->depends_on[i];
        const struct meaning *meaning;
        if (wish->name.len == 0)
            continue;
        TRY(find_meaning(r, reader, known, wish->name, &meaning));
        if (!meaning->is_own)
            wish->job_id = meaning->job_id;
    }
    return RC_OK;
}

static enum rc resolve(struct request *r, struct reader *reader)
{
    static struct meaning own = {.is_own = true};
    CLEANUP(strmap_free) struct strmap known = {0};
    for (size_t i = 0; i < r->cmd.submit.count; i++) {
        if (r->cmd.submit.items[i].name.len > 0)
            strmap_put(&known, r->cmd.submit.items[i].name, &own);
    }
    for (size_t i = 0; i < r->cmd.submit.count; i++)
        TRY(resolve_item(r, reader, &known, &r->cmd.submit.items[i]));
    return RC_OK;
}

static void look(struct request *r, struct reader *reader)
{
    r->rc = resolve(r, reader);
}

void job_names_resolve(struct request *r, request_step *go_on)
{
    if (has_named(r))
        request_to_query_first(r, look, go_on);
    else
        go_on(r);
}
