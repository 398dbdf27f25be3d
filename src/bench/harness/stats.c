#include "bench/harness/stats.h"
#include "wire/json/json.h"

static bool read_number(const struct json *doc, struct str group, struct str name,
                        uint64_t *ret_value)
{
    const struct json *value = json_get(json_get(doc, group), name);
    if (value == NULL || value->kind != JSON_INT || value->integer < 0)
        return false;
    *ret_value = (uint64_t)value->integer;
    return true;
}

bool stats_are_even(struct str body, uint32_t servers)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct json doc;
    if (json_parse(body, &arena, &doc, NULL) != RC_OK)
        return false;
    const struct json *nodes = json_get(&doc, STR("nodes"));
    const struct json *partitions = json_get(&doc, STR("partitions"));
    if (nodes == NULL || nodes->kind != JSON_ARRAY || nodes->count != servers ||
        partitions == NULL || partitions->kind != JSON_ARRAY)
        return false;
    int64_t fair = partitions->count / servers;
    int64_t owned = 0;
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct json *share = json_get(&nodes->items[i], STR("partitions"));
        if (share == NULL || share->kind != JSON_INT || share->integer < fair ||
            share->integer > fair + 1)
            return false;
        owned += share->integer;
    }
    return owned == partitions->count;
}

enum rc stats_parse(struct str body, struct stats *ret_stats, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct json doc;
    uint64_t sync_ms;
    TRY(json_parse(body, &arena, &doc, err));
    if (!read_number(&doc, STR("workers"), STR("count"), &ret_stats->workers) ||
        !read_number(&doc, STR("executions"), STR("completed"), &ret_stats->completed) ||
        !read_number(&doc, STR("store"), STR("commits"), &ret_stats->cost.commits) ||
        !read_number(&doc, STR("store"), STR("syncs"), &ret_stats->cost.syncs) ||
        !read_number(&doc, STR("store"), STR("sync_ms"), &sync_ms))
        return err_set(err, RC_INVALID, "the server's numbers are incomplete: %.*s",
                       STR_ARG(str_head(body, 200)));
    ret_stats->cost.sync_us = sync_ms * 1000;
    return RC_OK;
}
