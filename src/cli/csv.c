#include "cli/csv.h"

#include <string.h>

static bool holds(struct str text, const char *chars)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '\0' && strchr(chars, text.ptr[i]) != NULL)
            return true;
    }
    return false;
}

static void begin_field(struct csv *csv)
{
    if (csv->fields++ > 0)
        buf_add_char(csv->out, ',');
}

void csv_add_text(struct csv *csv, struct str text)
{
    bool formula = text.len > 0 && holds(str_of(text.ptr, 1), "=+-@\t\r");
    begin_field(csv);
    if (!holds(text, ",\"\r\n")) {
        if (formula)
            buf_add_char(csv->out, '\'');
        buf_add(csv->out, text);
        return;
    }
    buf_add(csv->out, formula ? STR("\"'") : STR("\""));
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            buf_add_char(csv->out, '"');
        buf_add_char(csv->out, text.ptr[i]);
    }
    buf_add_char(csv->out, '"');
}

void csv_add_value(struct csv *csv, struct str value)
{
    begin_field(csv);
    buf_add(csv->out, value);
}

void csv_end_row(struct csv *csv)
{
    buf_add(csv->out, STR("\r\n"));
    csv->fields = 0;
}
