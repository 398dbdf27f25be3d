/* cluster_json.h - who is there and who owns what, for people and programs. */
#pragma once
#include "wire/json/json.h"

struct commits_view;

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
    const struct commits_view *commits; /* its own; NULL: it has not said */
};

/* How long commits took. */
struct commits_view {
    uint64_t count;
    uint64_t p50_us;
    uint64_t p99_us;
};

struct partition_view {
    uint32_t partition;
    struct str owner;  /* a node's name; empty: none */
    struct str former; /* that of the one before; empty: there was none */
    uint64_t epoch;
    int64_t since_ms;
};

/* Partitions that one server took from another. */
struct takeover_view {
    int64_t at_ms;
    struct str to;
    struct str from; /* empty: they were nobody's */
    struct str why;
    uint64_t partitions; /* bits */
};

/* A time during which the store took no commits of a server. */
struct outage_view {
    struct str server;
    int64_t from_ms;
    int64_t until_ms; /* 0: it goes on */
    struct str code;
    struct str error;
};

void takeover_view_print(struct json_writer *w, const struct takeover_view *takeover);
void outage_view_print(struct json_writer *w, const struct outage_view *outage);
void node_view_print(struct json_writer *w, const struct node_view *node);
void partition_view_print(struct json_writer *w, const struct partition_view *partition);
