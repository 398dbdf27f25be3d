/* ping.h - how a run went that took place elsewhere, for a job that expects pings. */
#pragma once
#include "job/log.h"

#include <stdint.h>

enum {
    PING_OUTPUT_MAX = LOG_CHUNK_BYTES_MAX, /* it is kept as one chunk */
    PING_TOKEN = 1, /* names the attempt of such an execution: it never has a lease, nor another */
};

struct ping {
    bool failed;
    int64_t started_ms; /* 0: not said */
    int32_t exit_code;  /* -1: not said */
    struct str output;  /* what it printed last: at most PING_OUTPUT_MAX, in whole characters */
    int64_t dropped_bytes;
};
