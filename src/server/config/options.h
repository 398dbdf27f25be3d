/* options.h - everything a server can be told, as plain values.
 *
 * `settings.c` has a row for each field but the ones under "worked out": its name, default, range
 * and help. Texts are borrowed from the arena, the arguments or the environment they came from,
 * which live as long as the process. Filled once at start and not changed afterwards. */
#pragma once

#include "base/arena.h"
#include "base/opts.h"
#include "engine/core/engine.h"
#include "server/config/pages.h"
#include "store/store.h" /* enum durability */

#include <stdbool.h>
#include <stdint.h>

enum {
    SERVER_NETS_MAX = 64, /* more cores than that have other work to do */
    SETTINGS_MAX = 160,   /* rows of settings.c */
};

struct server_options {
    /* Where things are. */
    const char *data_dir; /* keys, logs, and the database unless `store` says otherwise */
    const char *store;    /* "sqlite:DIR", "postgres://…"; "" is the data directory */
    const char *listen;   /* "HOST:PORT", "[::1]:7420"; port 0 picks a free one */

    /* Among other servers, in a store that they share. */
    const char *node;       /* its name there; "": host name and port */
    const char *public_url; /* where people reach its pages: https://HOST, "": not said */
    const char *advertise;  /* where the others reach it: http://HOST:PORT; "": where it listens */
    uint64_t node_lease_ms; /* a server unheard of for this long loses its partitions */
    uint64_t partitions; /* of a store that is made now; a store that exists has its own number */
    uint64_t forward_wait_ms; /* for another server's answer */

    /* Metrics. */
    const char *metrics_listen;  /* "HOST:PORT" of their own; "": where the API is, alone */
    const char *metrics_prefix;  /* before their names */
    uint64_t metrics_series_max; /* lines of a scrape */
    bool metrics_open;           /* no key is needed */

    /* Traces. */
    const char *trace_endpoint;     /* where spans are posted to; "": nowhere */
    const char *trace_headers;      /* of these posts: NAME=VALUE,… */
    const char *trace_service_name; /* who they are from */
    const char *trace_ratio;        /* of the traces that begin here: 0 to 1 */
    unsigned trace_errors;     /* 0: of executions that failed, all the same; 1: they are not */
    uint64_t trace_timeout_ms; /* of one post */
    uint64_t trace_queue_bytes_max; /* what waits for them; more is dropped */

    /* How it behaves. */
    bool no_worker;              /* start no worker inside the server */
    bool allow_plaintext_remote; /* listen beyond this machine although keys travel unencrypted */
    uint64_t slots;              /* of the worker inside: how many runs at once */
    unsigned durability;         /* enum durability */
    unsigned log_level;          /* enum log_level */
    unsigned log_format;         /* enum log_format */
    uint64_t slow_request_ms;    /* a call that took longer is told about; 0: none is */

    /* Threads. */
    uint64_t net_threads;   /* 0: as many as cores */
    uint64_t query_threads; /* read connections */

    /* Limits: reaching one is answered, never ignored. */
    uint64_t payload_bytes_max;       /* of one job's payload: 413 */
    uint64_t request_bytes_max;       /* of one request's body, so of a batch: 413 */
    uint64_t batch_jobs_max;          /* jobs in one batch: 413 */
    uint64_t connections_max;         /* of all net threads together: 503 */
    uint64_t address_connections_max; /* of one address without a key: 503; 0: half of all */
    uint64_t buffered_bytes_max;      /* of requests that are being read or decided: 503 */
    uint64_t head_bytes_max;          /* request line and headers: 431 */
    uint64_t mailbox_max;             /* messages waiting for one thread: 503 */
    uint64_t stream_bytes_max;        /* unsent to one slow stream reader before it is cut off */
    uint64_t feed_readers_max;        /* of the summary of events: 503 */
    uint64_t feed_events_max;         /* events a second to each of them; the rest is counted */
    uint64_t output_bytes_max;        /* kept of one attempt's output */
    uint64_t checkpoint_bytes_max;    /* of one checkpoint: 413 */
    uint64_t head_timeout_ms;         /* from a request's first byte to the end of its head: 408 */
    uint64_t body_timeout_ms;         /* for every 16 KiB of a body: 408 */
    uint64_t body_rate_min;       /* bytes a second of a body that takes longer than that: 408 */
    uint64_t idle_timeout_ms;     /* a connection without requests is closed */
    uint64_t stranger_timeout_ms; /* the same, when it has shown no valid key yet */

    const char *job_env; /* variables that commands of the worker inside get, too (job/job_env.h) */

    const char *alert_webhooks; /* addresses, comma-separated; empty: alerts are not sent */
    const char *heartbeat_url;  /* is told that this server lives; empty: nobody is */
    uint64_t heartbeat_ms;

    /* Times. */
    uint64_t tzdata_look_ms;  /* how often to see whether time zones have other rules */
    uint64_t clock_step_ms;   /* a clock that was set must hold for this long; 0: not at all */
    unsigned clock_synced;    /* 0: the system is believed about its clock; 1: it does not */
    uint64_t outage_grace_ms; /* leases are renewed so long while the store takes nothing */
    uint64_t stats_age_ms;    /* numbers of /stats and totals of lists are at most so old */
    uint64_t waits_age_ms;    /* the same of /stats/blockers */
    uint64_t checkpoint_ms;   /* how often a worker looks whether a command has written one */
    uint64_t logs_keep_ms;    /* output, and checkpoints of ended executions */

    /* The engine's own settings: leases, limits, alerts, breakers, how long things are kept. Of
     * what it is told besides, payload_bytes_max and alerts.deliver follow from the above. */
    struct engine_options engine;

    /* Of each setting, by its place in settings_all, where its value comes from (settings.h). */
    uint8_t sources[SETTINGS_MAX];
    const char *config_file; /* the one that was read; NULL: none was */

    /* Worked out from the above by server_options_parse. */
    const char *store_dir;   /* NULL when it is at an URL */
    const char *store_url;   /* of PostgreSQL: it may hold a password, so nobody prints it */
    const char *listen_host; /* without brackets */
    uint16_t listen_port;
    const char *metrics_host; /* NULL: metrics have no address of their own */
    uint16_t metrics_port;

    server_pages *pages; /* handed over by the program; NULL: there are none */
};

/* Looks a variable up; NULL when it is not set. getenv in the real program. */
typedef const char *settings_env(const char *name);

/* The setting public_url without a slash at its end; empty: it is not set. */
struct str server_public_url(const struct server_options *o);
/* Options from flags, BELFRY_* variables, the config file they may name, and defaults, the former
 * before the latter; refuses what does not go together. argv[0] is the command. *ret_help: --help
 * was among the flags and nothing else was looked at. Texts live in the arena or in argv. */
enum rc server_options_parse(int argc, char *const *argv, settings_env *env, struct arena *arena,
                             struct server_options *ret_options, bool *ret_help, struct err *err);

/* The flags of `belfry server`. */
extern const struct opts server_opts;
