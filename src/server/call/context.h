/* context.h - what the parts of a running server share.
 *
 * Filled at the start, before any thread runs, and constant from then on, except for what is
 * atomic. Threads reach each other through it, by mail only. */
#pragma once
#include "server/auth/auth.h"
#include "server/config/options.h"

#include <stdatomic.h>
#include <sys/resource.h>

struct board;
struct incidents;
struct decider;
struct metrics;
struct scraper;
struct kept;
struct alert_sender;
struct heartbeat;
struct membership;
struct net;
struct queries;
struct output_log;
struct tracer;
struct worker_versions;
struct zones;

struct server {
    const struct server_options *options;
    struct store *store;
    struct auth auth;
    struct codes *codes;                     /* owned: by which browsers sign in */
    struct wrong_keys *wrong_keys;           /* owned: that were tried lately */
    struct membership *membership;           /* among other servers; NULL: there can be none */
    struct incidents *incidents;             /* takeovers and outages of this server */
    struct metrics *metrics;                 /* what happens, counted … */
    struct scraper *scraper;                 /* … and told */
    struct decider *decider;                 /* runs turns */
    struct board *board;                     /* numbers of this server, for all who read them */
    struct board *waits;                     /* the same of how many wait for what */
    struct queries *queries;                 /* reads */
    struct alert_sender *alert_sender;       /* sends alerts; NULL: no webhook is configured */
    struct heartbeat *heartbeat;             /* says that it lives; NULL: nobody wants to know */
    struct tracer *tracer;                   /* sends spans; NULL: nobody is to be told */
    struct output_log *tail;                 /* keeps and follows output, and tells what happens */
    struct zones *zones;                     /* time zones by name */
    struct kept *forecasts;                  /* that were made lately, … */
    struct kept *timelines;                  /* … and these in the last seconds */
    int64_t started_ms;                      /* wall clock */
    struct worker_versions *worker_versions; /* that are connected */
    struct http_quota *quota;                /* owned: what connections of all net threads have */
    struct rlimit files;       /* as we were started; the worker beside this server gets the same */
    atomic_int trouble;        /* enum rc: why the store takes no commits; RC_OK: it does */
    atomic_size_t quarantined; /* executions that make no sense and are left alone */
    atomic_size_t alerts_pending;         /* that the alert sender has found; a hundred at most */
    atomic_int_least64_t deletes_from_ms; /* wall: nothing old is deleted before; see engine.h */
    atomic_bool draining;                 /* going away: take no new work */
    atomic_bool loaded;                   /* the partitions that are owned have been loaded once */
    struct net *nets[SERVER_NETS_MAX];
    atomic_size_t net_count;
};
