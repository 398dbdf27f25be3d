/* trace_settings.h - where spans go to: the settings trace_…, and what other programs are told by
 * the variables of OpenTelemetry.
 *
 * These variables are the same for all programs on a machine, so our own settings, wherever they
 * come from, go before them, and one that makes no sense is passed over with a warning, as the
 * specification wants it. */
#pragma once
#include "server/config/settings.h"

/* OTEL_EXPORTER_OTLP_[TRACES_]ENDPOINT, …_HEADERS, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER and
 * …_SAMPLER_ARG, OTEL_SDK_DISABLED. After all other sources. */
void trace_settings_from_otel(struct server_options *options, settings_env *env,
                              struct arena *arena);

struct trace_settings {
    const char *url;
    const char *const *headers; /* "name: value", NULL-ended */
    struct str service;
    struct str node;
    int64_t timeout_ms;
    size_t queue_bytes_max;
};

/* RC_INVALID: a setting makes no sense. The text of headers is not told: it has keys in it. */
enum rc trace_settings_read(const struct server_options *options, struct arena *arena,
                            struct trace_settings *ret_settings, struct err *err);
/* 0 to 1. */
enum rc trace_ratio_read(const char *text, double *ret_ratio, struct err *err);
