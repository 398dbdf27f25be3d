#include "cli/crontab.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "cli/crontab_text.h"

#include <stdarg.h>
#include <string.h>

/* A crontab being read. */
struct reader {
    const struct crontab_options *options;
    struct arena *arena;
    size_t line; /* its number */
    VEC(struct crontab_entry) entries;
    VEC(struct crontab_remark) remarks;
    size_t refused_count;
    VEC(struct pair) variables; /* in force */
    const struct pair *env;     /* a copy of them for entries; NULL: they changed since */
    struct str cron_tz;
    struct buf comment;   /* right above, line by line */
    struct strmap counts; /* of entries by program: size_t */
    struct strmap said;   /* things that there was a remark about */
};

static void reader_free(struct reader *r)
{
    buf_free(&r->comment);
    strmap_free(&r->counts);
    strmap_free(&r->said);
}

/* ---- remarks */

static void add_remark(struct reader *r, bool refused, struct str text)
{
    *VEC_PUSH(r->arena, &r->remarks) = (struct crontab_remark){r->line, refused, text};
    r->refused_count += refused;
}

static void refuse(struct reader *r, const char *why)
{
    add_remark(r, true, arena_str(r->arena, str_c(why)));
}

/* The first time that about comes up. */
static void remark_once(struct reader *r, struct str about, struct str text)
{
    static char yes;
    if (strmap_get(&r->said, about) != NULL)
        return;
    strmap_put(&r->said, about, &yes);
    add_remark(r, false, text);
}

/* ---- variables */

static const struct {
    struct str name;
    const char *why;
} not_kept[] = {
    {STR_INIT("MAILTO"), "no mail is sent; the output of a run is kept with it (belfry logs)"},
    {STR_INIT("MAILFROM"), "no mail is sent"},
    {STR_INIT("CONTENT_TYPE"), "no mail is sent"},
    {STR_INIT("CONTENT_TRANSFER_ENCODING"), "no mail is sent"},
    {STR_INIT("LOGNAME"), "cron does not let it be set either"},
    {STR_INIT("RANDOM_DELAY"), "a job has its `stagger` for that"},
    {STR_INIT("START_HOURS_RANGE"), "the hour belongs into the entry"},
};

static struct str variable_of(const struct reader *r, struct str name)
{
    for (size_t i = 0; i < r->variables.len; i++) {
        if (str_eq(r->variables.items[i].key, name))
            return r->variables.items[i].value;
    }
    return (struct str){0};
}

static void set_variable(struct reader *r, struct str name, struct str value)
{
    r->env = NULL;
    for (size_t i = 0; i < r->variables.len; i++) {
        if (str_eq(r->variables.items[i].key, name)) {
            r->variables.items[i].value = value;
            return;
        }
    }
    if (r->variables.len == CRONTAB_VARIABLES_MAX)
        refuse(r, "too many variables: 100 may be set at once");
    else
        *VEC_PUSH(r->arena, &r->variables) = (struct pair){name, value};
}

static bool has_blank(struct str text)
{
    return str_index(text, ' ') < text.len || str_index(text, '\t') < text.len;
}

/* cron goes by the zone of its machine, and not by TZ; a crontab that sets TZ most likely means
 * both. */
static void read_zone(struct reader *r, struct str name, struct str value)
{
    bool is_tz = str_eq(name, STR("TZ"));
    if (has_blank(value) || value.len > SPEC_NAME_MAX) {
        refuse(r, is_tz ? "TZ is not the name of a zone"
                        : "CRON_TZ is not the name of a zone; it stands on a line of its own");
        return;
    }
    if (!is_tz) {
        r->cron_tz = value;
        return;
    }
    set_variable(r, name, value);
    if (value.len > 0)
        remark_once(r, name,
                    STR("TZ decides here when entries run, too; with cron that is CRON_TZ"));
}

static void read_variable(struct reader *r, struct str name, struct str value)
{
    for (size_t i = 0; i < COUNT_OF(not_kept); i++) {
        if (!str_eq(name, not_kept[i].name))
            continue;
        if (value.len > 0) /* MAILTO="" asks for what it gets */
            remark_once(
                r, name,
                arena_printf(r->arena, "%.*s is not kept: %s", STR_ARG(name), not_kept[i].why));
        return;
    }
    if (str_eq(name, STR("CRON_TZ")) || str_eq(name, STR("TZ")))
        read_zone(r, name, value);
    else if (str_eq(name, STR("SHELL")) && value.len == 0)
        refuse(r, "SHELL is empty");
    else
        set_variable(r, name, value);
}

static const struct pair *env_of(struct reader *r)
{
    if (r->env == NULL && r->variables.len > 0) {
        struct pair *env = ARENA_ARRAY(r->arena, struct pair, r->variables.len);
        memcpy(env, r->variables.items, r->variables.len * sizeof *env);
        r->env = env;
    }
    return r->env;
}

/* ---- comments */

/* An entry that somebody switched off, or the titles of the columns, as Debian's crontab has
 * them. */
static bool is_no_prose(struct str text)
{
    static const struct cron_options plain = {.seconds = false};
    struct cron cron;
    struct str zone;
    struct str rest = text;
    struct str first = crontab_word(&rest);
    if (str_eq(first, STR("m")) && str_eq(crontab_word(&rest), STR("h")))
        return true;
    if (first.len > 0 && first.ptr[0] == '@')
        return true;
    rest = text;
    for (int i = 0; i < 5; i++)
        (void)crontab_word(&rest);
    struct str fields = str_of(text.ptr, text.len - rest.len);
    return cron_parse(fields, &plain, &cron, &zone, NULL) == RC_OK;
}

/* An empty comment parts one that belongs to the file from one that belongs to an entry. */
static void read_comment(struct reader *r, struct str line)
{
    while (line.len > 0 && line.ptr[0] == '#')
        line = str_from(line, 1);
    struct str text = str_trim(line);
    if (text.len == 0)
        buf_clear(&r->comment);
    else if (!is_no_prose(text) && r->comment.len + text.len < SPEC_TEXT_MAX)
        buf_printf(&r->comment, "%s%.*s", r->comment.len > 0 ? "\n" : "", STR_ARG(text));
}

/* ---- entries */

/* "crontab:backup.sh", and the next one of that program "crontab:backup.sh#2". */
static struct str name_of(struct reader *r, struct str command)
{
    struct str program = crontab_program(command, r->arena);
    size_t *count = strmap_get(&r->counts, program);
    if (count == NULL) {
        count = ARENA_NEW(r->arena, size_t);
        strmap_put(&r->counts, program, count);
    }
    if (++*count == 1)
        return arena_printf(r->arena, "%.*s:%.*s", STR_ARG(r->options->prefix), STR_ARG(program));
    return arena_printf(r->arena, "%.*s:%.*s#%zu", STR_ARG(r->options->prefix), STR_ARG(program),
                        *count);
}

/* The words that say when, one blank between them. */
static struct str take_cron(struct reader *r, struct str *rest)
{
    struct str cron = crontab_word(rest);
    bool is_every = str_eq_nocase(cron, STR("@every"));
    int more = is_every ? 1 : cron.len > 0 && cron.ptr[0] == '@' ? 0 : 4;
    for (; more > 0; more--) {
        struct str word = crontab_word(rest);
        if (word.len > 0)
            cron = arena_printf(r->arena, "%.*s %.*s", STR_ARG(cron), STR_ARG(word));
    }
    return cron;
}

static bool check_cron(struct reader *r, struct str text)
{
    static const struct cron_options plain = {.seconds = false};
    struct cron cron;
    struct str zone;
    struct err err;
    if (cron_parse(text, &plain, &cron, &zone, &err) == RC_OK)
        return true;
    refuse(r, err.text);
    return false;
}

static void remark_user(struct reader *r, struct str user)
{
    remark_once(r, arena_printf(r->arena, "user %.*s", STR_ARG(user)),
                arena_printf(r->arena, "'%.*s' is not kept: commands run as the user of the worker",
                             STR_ARG(user)));
}

static void add_entry(struct reader *r, struct crontab_entry entry, struct str text)
{
    struct str shell = variable_of(r, STR("SHELL"));
    struct str tz = variable_of(r, STR("TZ"));
    crontab_percent(text, r->arena, &entry.command, &entry.input);
    if (str_trim(entry.command).len == 0) {
        refuse(r, "the command is missing");
        return;
    }
    if (entry.user.len > 0)
        remark_user(r, entry.user);
    entry.line = r->line;
    entry.name = name_of(r, entry.command);
    entry.description = arena_str(r->arena, buf_str(&r->comment));
    entry.timezone = r->cron_tz.len > 0 ? r->cron_tz : tz.len > 0 ? tz : r->options->timezone;
    entry.shell = shell.len > 0 ? shell : STR("/bin/sh");
    entry.home = variable_of(r, STR("HOME"));
    entry.env = env_of(r);
    entry.env_count = r->variables.len;
    *VEC_PUSH(r->arena, &r->entries) = entry;
}

static void read_entry(struct reader *r, struct str line)
{
    struct crontab_entry entry = {0};
    struct str rest = line;
    if (rest.len > 1 && rest.ptr[0] == '-') /* some crons: do not log it */
        rest = str_from(rest, 1);
    entry.cron = take_cron(r, &rest);
    if (!check_cron(r, entry.cron))
        return;
    if (r->options->system)
        entry.user = crontab_word(&rest);
    add_entry(r, entry, crontab_left(rest));
}

/* ---- the whole */

/* Blanks at the end of a command are its own; a return at the end of a line is an editor's. */
static void read_line(struct reader *r, struct str line)
{
    struct str name;
    struct str value;
    struct str text = crontab_left(line);
    if (text.len > 0 && text.ptr[text.len - 1] == '\r')
        text.len--;
    if (!str_is_utf8(text) || memchr(text.ptr, '\0', text.len) != NULL) {
        refuse(r, "the line is not text in UTF-8");
    } else if (text.len > 0 && text.ptr[0] == '#') {
        read_comment(r, text);
        return; /* a comment may go on */
    } else if (crontab_variable(text, &name, &value)) {
        read_variable(r, name, value);
    } else if (text.len > 0) {
        read_entry(r, text);
    }
    buf_clear(&r->comment);
}

enum rc crontab_parse(struct str text, const struct crontab_options *options, struct arena *arena,
                      struct crontab *ret_crontab, struct err *err)
{
    CLEANUP(reader_free)
    struct reader r = {.options = options, .arena = arena, .comment = BUF(SPEC_TEXT_MAX + 1)};
    if (text.len > CRONTAB_BYTES_MAX)
        return err_set(err, RC_TOO_LARGE, "a crontab has at most %d bytes", CRONTAB_BYTES_MAX);
    while (text.ptr != NULL) {
        r.line++;
        read_line(&r, str_cut(&text, '\n'));
        if (r.entries.len > CRONTAB_ENTRIES_MAX)
            return err_set(err, RC_TOO_LARGE, "a crontab has at most %d entries",
                           CRONTAB_ENTRIES_MAX);
    }
    *ret_crontab = (struct crontab){
        .entries = r.entries.items,
        .entry_count = r.entries.len,
        .remarks = r.remarks.items,
        .remark_count = r.remarks.len,
        .refused_count = r.refused_count,
    };
    return RC_OK;
}
