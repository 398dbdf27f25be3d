#include "base/log_entry.h"
#include "base/buf.h"
#include "base/when.h"

const char *log_level_name(enum log_level level)
{
    static const char *const names[] = {
        [LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn", [LOG_ERROR] = "error"};
    return names[level];
}

const char *log_format_name(enum log_format format)
{
    static const char *const names[] = {
        [LOG_JSON] = "json", [LOG_TEXT] = "text", [LOG_LOGFMT] = "logfmt"};
    return names[format];
}

/* ---- values */

/* Some who read JSON (PostgreSQL, and wire/json) refuse a NUL, escaped or not. */
static void add_code(struct buf *out, uint32_t code)
{
    const uint32_t replacement = 0xfffd;
    if (code == '\n')
        buf_add(out, STR("\\n"));
    else if (code == '\t')
        buf_add(out, STR("\\t"));
    else
        buf_printf(out, "\\u%04x", (unsigned)(code == 0 ? replacement : code));
}

/* wire/json's writer lives above base; a log line needs only this much of it, and logfmt quotes in
 * the same way. */
static void add_escaped(struct buf *out, struct str text)
{
    while (text.len > 0) {
        size_t len = str_utf8_len(text);
        if (len == 0 || str_control_len(text) > 0) {
            add_code(out, len == 0 ? (unsigned char)text.ptr[0] : str_utf8_value(text, len));
        } else {
            if (text.ptr[0] == '"' || text.ptr[0] == '\\')
                buf_add_char(out, '\\');
            buf_add(out, str_of(text.ptr, len));
        }
        text = str_from(text, len == 0 ? 1 : len);
    }
}

static void add_quoted(struct buf *out, struct str text)
{
    buf_add_char(out, '"');
    add_escaped(out, text);
    buf_add_char(out, '"');
}

/* Without quotes a value is read up to the next blank. */
static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c <= ' ' || c >= 0x7f || c == '"' || c == '=' || c == '\\')
            return false;
    }
    return text.len > 0;
}

static void add_value(struct buf *out, struct str text)
{
    if (is_plain(text))
        buf_add(out, text);
    else
        add_quoted(out, text);
}

/* ---- members */

static void add_member(struct buf *out, const char *key, struct str value, bool is_number)
{
    buf_add(out, out->len > 1 ? STR(",\"") : STR("\""));
    buf_add(out, str_c(key));
    buf_add(out, STR("\":"));
    if (is_number)
        buf_add(out, value);
    else
        add_quoted(out, value);
}

static void add_pair(struct buf *out, const char *key, struct str value)
{
    if (out->len > 0)
        buf_add_char(out, ' ');
    buf_add(out, str_c(key));
    buf_add_char(out, '=');
    add_value(out, value);
}

static void add_field(struct buf *out, enum log_format format, const struct log_field *field)
{
    size_t whole = out->len;
    if (format == LOG_JSON)
        add_member(out, field->key, field->value, field->is_number);
    else
        add_pair(out, field->key, field->value);
    if (out->overflow) {
        out->len = whole;
        out->overflow = false;
    }
}

/* What every line begins with. */
static void add_head(struct buf *out, const struct log_entry *entry)
{
    char text[WHEN_TEXT_MAX];
    const struct log_field head[] = {
        {.key = "time", .value = when_format(text, entry->at_ms)},
        {.key = "level", .value = str_c(log_level_name(entry->level))},
        {.key = "who", .value = str_c(entry->who)},
        {.key = "message", .value = str_c(entry->message)},
    };
    if (entry->format == LOG_TEXT) {
        buf_printf(out, "%.*s %-5s %s: ", STR_ARG(head[0].value), log_level_name(entry->level),
                   entry->who);
        add_escaped(out, str_c(entry->message));
        return;
    }
    if (entry->format == LOG_JSON)
        buf_add_char(out, '{');
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        add_field(out, entry->format, &head[i]);
}

size_t log_entry_print(const struct log_entry *entry, char ret_bytes[LOG_ENTRY_MAX])
{
    const size_t end_bytes = 2; /* a brace and the newline fit in any case */
    struct buf out = {
        .ptr = ret_bytes, .cap = LOG_ENTRY_MAX - end_bytes, .max = LOG_ENTRY_MAX - end_bytes};
    add_head(&out, entry);
    out.overflow = false;
    for (size_t i = 0; i < entry->count; i++)
        add_field(&out, entry->format, &entry->fields[i]);
    if (entry->format == LOG_JSON)
        ret_bytes[out.len++] = '}';
    ret_bytes[out.len++] = '\n';
    return out.len;
}
