#include "bench/harness/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    REPORT_BYTES_MAX = 1 << 20,
    NAME_WIDTH = 28,
    VALUE_WIDTH = 14,
};

static void flush(struct report *r)
{
    if (fwrite(r->out.ptr, 1, r->out.len, stdout) != r->out.len || fflush(stdout) != 0)
        exit(EXIT_FAILURE); /* the output is not read, so an error cannot be told */
    buf_clear(&r->out);
}

void report_begin(struct report *r, enum report_format format)
{
    *r = (struct report){.format = format, .out = BUF(REPORT_BYTES_MAX)};
    r->json = JSON_WRITER(&r->out);
    if (format == REPORT_JSON)
        json_open(&r->json);
}

static void end_section(struct report *r)
{
    if (r->in_section && r->format == REPORT_JSON)
        json_close(&r->json);
    if (r->in_section && r->format == REPORT_TABLE)
        flush(r);
    r->in_section = false;
}

void report_end(struct report *r)
{
    end_section(r);
    if (r->format == REPORT_JSON) {
        json_close(&r->json);
        buf_add_char(&r->out, '\n');
        flush(r);
    }
    buf_free(&r->out);
}

void report_section(struct report *r, const char *name)
{
    end_section(r);
    r->in_section = true;
    if (r->format == REPORT_JSON) {
        json_key(&r->json, name);
        json_open(&r->json);
    } else {
        buf_printf(&r->out, "%s\n", name);
    }
}

/* "jobs_per_s" as "  jobs per s       ". */
static void add_label(struct report *r, const char *name)
{
    int width = 0;
    buf_add(&r->out, STR("  "));
    for (; name[width] != '\0'; width++)
        buf_add_char(&r->out, name[width] == '_' ? ' ' : name[width]);
    buf_printf(&r->out, "%*s", width < NAME_WIDTH ? NAME_WIDTH - width : 1, "");
}

void report_text(struct report *r, const char *name, struct str value)
{
    if (r->format == REPORT_JSON) {
        json_put_str(&r->json, name, value);
    } else {
        add_label(r, name);
        buf_printf(&r->out, "%.*s\n", STR_ARG(value));
    }
}

void report_count(struct report *r, const char *name, uint64_t value)
{
    if (r->format == REPORT_JSON) {
        json_put_int(&r->json, name, (int64_t)value);
    } else {
        add_label(r, name);
        buf_printf(&r->out, "%*" PRIu64 "\n", VALUE_WIDTH, value);
    }
}

/* Rounded in both forms: more digits would only pretend to be exact. */
void report_figure(struct report *r, const char *name, double value, int decimals)
{
    char text[64];
    snprintf(text, sizeof text, "%.*f", decimals, value);
    if (r->format == REPORT_JSON) {
        json_put_raw(&r->json, name, str_c(text));
    } else {
        add_label(r, name);
        buf_printf(&r->out, "%*s\n", VALUE_WIDTH, text);
    }
}
