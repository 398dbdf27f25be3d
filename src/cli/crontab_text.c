#include "cli/crontab_text.h"

enum { PROGRAM_BYTES_MAX = 60 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct str crontab_left(struct str text)
{
    while (text.len > 0 && is_blank(text.ptr[0]))
        text = str_from(text, 1);
    return text;
}

struct str crontab_word(struct str *rest)
{
    struct str text = crontab_left(*rest);
    size_t len = 0;
    while (len < text.len && !is_blank(text.ptr[len]))
        len++;
    *rest = str_from(text, len);
    return str_of(text.ptr, len);
}

/* ---- variables */

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* A name ends at a blank or at the sign, a quoted one at its quote. */
static bool take_name(struct str *rest, struct str *ret_name)
{
    struct str text = *rest;
    size_t begin = text.len > 0 && is_quote(text.ptr[0]) ? 1 : 0;
    size_t end = begin;
    while (end < text.len && (begin == 1 ? text.ptr[end] != text.ptr[0]
                                         : !is_blank(text.ptr[end]) && text.ptr[end] != '='))
        end++;
    if (end == begin || end == text.len)
        return false;
    *ret_name = str_of(text.ptr + begin, end - begin);
    *rest = crontab_left(str_from(text, end + begin));
    return true;
}

bool crontab_variable(struct str line, struct str *ret_name, struct str *ret_value)
{
    struct str rest = line;
    if (!take_name(&rest, ret_name) || rest.len == 0 || rest.ptr[0] != '=')
        return false;
    struct str value = str_trim(str_from(rest, 1));
    if (value.len >= 2 && is_quote(value.ptr[0]) && value.ptr[value.len - 1] == value.ptr[0])
        value = str_of(value.ptr + 1, value.len - 2);
    *ret_value = value;
    return true;
}

/* ---- commands */

/* Where the command ends: at a % that has no backslash of its own before it. */
static size_t command_len(struct str text)
{
    size_t at = 0;
    while (at < text.len && text.ptr[at] != '%')
        at += text.ptr[at] == '\\' && at + 1 < text.len ? 2 : 1;
    return at;
}

/* \% as %, and a % without a backslash as `plain`. */
static struct str resolve(struct str text, char plain, struct arena *arena)
{
    char *out = arena_bytes(arena, text.len);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool escaped = i > 0 && text.ptr[i - 1] == '\\';
        if (text.ptr[i] != '%')
            out[len++] = text.ptr[i];
        else if (escaped)
            out[len - 1] = '%';
        else
            out[len++] = plain;
    }
    return str_of(out, len);
}

void crontab_percent(struct str text, struct arena *arena, struct str *ret_command,
                     struct str *ret_input)
{
    size_t len = command_len(text);
    struct str input = str_from(text, len + 1);
    *ret_command = resolve(str_of(text.ptr, len), '%', arena);
    *ret_input = (struct str){0};
    if (input.len == 0)
        return;
    input = resolve(input, '\n', arena);
    bool ended = input.ptr[input.len - 1] == '\n';
    *ret_input = arena_printf(arena, "%.*s%s", STR_ARG(input), ended ? "" : "\n");
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

/* `A=1 /opt/x/run.sh`: what is set in front of a command is not its name. */
static bool is_assignment(struct str word)
{
    size_t equals = str_index(word, '=');
    for (size_t i = 0; i < equals; i++) {
        if (!is_plain(word.ptr[i]) || word.ptr[i] == '.' || word.ptr[i] == '-')
            return false;
    }
    return equals > 0 && equals < word.len;
}

/* Behind `cd /srv/app && ` or `cd /srv/app; `; all of it when there is no such thing. */
static struct str behind_cd(struct str command)
{
    struct str rest = command;
    if (!str_eq(crontab_word(&rest), STR("cd")))
        return command;
    for (struct str word = crontab_word(&rest); word.len > 0; word = crontab_word(&rest)) {
        if (str_eq(word, STR("&&")) || word.ptr[word.len - 1] == ';')
            return rest;
    }
    return command;
}

struct str crontab_program(struct str command, struct arena *arena)
{
    command = behind_cd(command);
    struct str word = crontab_word(&command);
    while (is_assignment(word))
        word = crontab_word(&command);
    while (str_index(word, '/') < word.len)
        word = str_from(word, str_index(word, '/') + 1);
    char *out = arena_bytes(arena, word.len);
    size_t len = 0;
    for (size_t i = 0; i < word.len && len < PROGRAM_BYTES_MAX; i++) {
        if (is_plain(word.ptr[i]))
            out[len++] = word.ptr[i];
    }
    return len > 0 ? str_of(out, len) : STR("command");
}
