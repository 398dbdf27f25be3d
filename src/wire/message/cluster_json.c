#include "wire/message/cluster_json.h"
#include "job/partition.h"

static void put_commits(struct json_writer *w, const struct commits_view *commits)
{
    if (commits == NULL) {
        json_put_null(w, "commits");
        return;
    }
    json_key(w, "commits");
    json_open(w);
    json_put_int(w, "count", (int64_t)commits->count);
    if (commits->count > 0) {
        json_put_int(w, "p50_us", (int64_t)commits->p50_us);
        json_put_int(w, "p99_us", (int64_t)commits->p99_us);
    } else {
        json_put_null(w, "p50_us");
        json_put_null(w, "p99_us");
    }
    json_close(w);
}

void node_view_print(struct json_writer *w, const struct node_view *node)
{
    json_open(w);
    json_put_str(w, "name", node->name);
    json_put_str(w, "status", node->status);
    json_put_bool(w, "answering", node->is_me);
    json_put_text(w, "address", node->address);
    json_put_str(w, "version", node->version);
    json_put_int(w, "partitions", node->partitions);
    json_put_int(w, "skew_ms", node->skew_ms);
    json_put_when(w, "started_at", node->started_ms);
    json_put_when(w, "seen_at", node->seen_ms);
    put_commits(w, node->commits);
    json_close(w);
}

void partition_view_print(struct json_writer *w, const struct partition_view *partition)
{
    json_open(w);
    json_put_int(w, "partition", partition->partition);
    json_put_text(w, "owner", partition->owner);
    json_put_text(w, "former", partition->former);
    json_put_int(w, "epoch", (int64_t)partition->epoch);
    json_put_when(w, "since", partition->since_ms);
    json_close(w);
}

void takeover_view_print(struct json_writer *w, const struct takeover_view *takeover)
{
    json_open(w);
    json_put_when(w, "at", takeover->at_ms);
    json_put_str(w, "to", takeover->to);
    json_put_text(w, "from", takeover->from);
    json_put_str(w, "why", takeover->why);
    json_key(w, "partitions");
    json_open_array(w);
    for (unsigned p = 0; p < PARTITIONS_MAX; p++) {
        if (takeover->partitions >> p & 1)
            json_int(w, p);
    }
    json_close_array(w);
    json_close(w);
}

void outage_view_print(struct json_writer *w, const struct outage_view *outage)
{
    json_open(w);
    json_put_str(w, "server", outage->server);
    json_put_when(w, "from", outage->from_ms);
    json_put_when(w, "until", outage->until_ms);
    json_put_str(w, "code", outage->code);
    json_put_str(w, "error", outage->error);
    json_close(w);
}
