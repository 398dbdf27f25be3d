#include "wire/message/cluster_json.h"

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
    json_close(w);
}

void partition_view_print(struct json_writer *w, const struct partition_view *partition)
{
    json_open(w);
    json_put_int(w, "partition", partition->partition);
    json_put_text(w, "owner", partition->owner);
    json_put_int(w, "epoch", (int64_t)partition->epoch);
    json_put_when(w, "since", partition->since_ms);
    json_close(w);
}
