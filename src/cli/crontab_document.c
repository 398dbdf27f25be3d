#include "cli/crontab_document.h"
#include "wire/json/json.h"

enum { DOCUMENT_BYTES_MAX = 1 << 26 }; /* above all that fits into a crontab, escaped */

/* A job's payload is JSON, but cron's input is plain text. So a shell stands in front that feeds
 * it: what $2 stands for in a here-document is text and nothing else, and exec leaves one process
 * with its own exit code. The here-document ends the last line itself. */
static void put_fed_command(struct json_writer *w, const struct crontab_entry *entry)
{
    json_str(w, STR("/bin/sh"));
    json_str(w, STR("-c"));
    json_str(w, STR("exec \"$0\" -c \"$1\" <<INPUT\n$2\nINPUT\n"));
    json_str(w, entry->shell);
    json_str(w, entry->command);
    json_str(w, str_of(entry->input.ptr, entry->input.len - 1));
}

static void put_command(struct json_writer *w, const struct crontab_entry *entry)
{
    json_key(w, "command");
    json_open_array(w);
    if (entry->input.len > 0) {
        put_fed_command(w, entry);
    } else {
        json_str(w, entry->shell);
        json_str(w, STR("-c"));
        json_str(w, entry->command);
    }
    json_close_array(w);
}

static void put_env(struct json_writer *w, const struct crontab_entry *entry)
{
    if (entry->env_count == 0)
        return;
    json_key(w, "env");
    json_open(w);
    for (size_t i = 0; i < entry->env_count; i++) {
        json_key_str(w, entry->env[i].key);
        json_str(w, entry->env[i].value);
    }
    json_close(w);
}

static void put_schedule(struct json_writer *w, const struct crontab_entry *entry)
{
    json_key(w, "schedule");
    json_open(w);
    json_put_str(w, "cron", entry->cron);
    json_put_str(w, "timezone", entry->timezone);
    json_close(w);
}

/* Settings by which a job does what cron does by default. */
static void put_manners(struct json_writer *w)
{
    json_put_str(w, "overlap", STR("parallel"));
    json_put_raw(w, "misfire", STR("{\"policy\":\"skip\"}"));
    json_put_raw(w, "retry", STR("{\"max_retries\":0}"));
}

struct str crontab_document(const struct crontab_entry *entry, struct arena *arena)
{
    CLEANUP(buf_free) struct buf out = BUF(DOCUMENT_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    json_put_str(&w, "name", entry->name);
    if (entry->description.len > 0)
        json_put_str(&w, "description", entry->description);
    put_command(&w, entry);
    put_env(&w, entry);
    if (entry->home.len > 0)
        json_put_str(&w, "working_dir", entry->home);
    put_schedule(&w, entry);
    put_manners(&w);
    json_close(&w);
    return arena_str(arena, buf_str(&out));
}
