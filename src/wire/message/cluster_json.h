/* cluster_json.h - who is there and who owns what, for people and programs. */
#pragma once
#include "wire/json/json.h"

/* One server of the cluster. */
struct node_view {
    struct str name;
    struct str address;
    struct str version;
    struct str status; /* "active", "draining", "silent" */
    bool is_me;        /* the one that answers */
    uint32_t partitions;
    int64_t skew_ms; /* its own clock minus the database's */
    int64_t started_ms;
    int64_t seen_ms;
};

struct partition_view {
    uint32_t partition;
    struct str owner; /* a node's name; empty: none */
    uint64_t epoch;
    int64_t since_ms;
};

void node_view_print(struct json_writer *w, const struct node_view *node);
void partition_view_print(struct json_writer *w, const struct partition_view *partition);
