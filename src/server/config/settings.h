/* settings.h - every setting of a server in one table.
 *
 * A row says what a setting is called, where it lives in `struct server_options` (of which the
 * engine's options are a part), its default, its range, and a line of help. The name is the key in
 * the config file (`lease_ms`), BELFRY_ and the name in capitals in the environment
 * (`BELFRY_LEASE_MS`), and the left side of `--set lease_ms=20000`; the settings that users change
 * most have flags of their own (`--listen`), see options.c. A value is the same text wherever it
 * comes from: times take a number of milliseconds or a duration ("20s"), sizes a number of bytes or
 * one with KiB, MiB or GiB behind it.
 *
 * Precedence: flag, environment, config file, default. The sources are applied in the opposite
 * order, each overwriting what a weaker one said. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "server/config/options.h"

enum setting_kind {
    SETTING_TEXT,
    SETTING_BOOL,   /* true or false, also yes, no, 1, 0 */
    SETTING_NUMBER, /* from min to max */
    SETTING_BYTES,
    SETTING_TIME, /* milliseconds */
    SETTING_CHOICE,
};

/* Where a value comes from, the weakest first. */
enum setting_source { SOURCE_DEFAULT, SOURCE_CONFIG, SOURCE_ENV, SOURCE_FLAG, SETTING_SOURCES };

enum setting_traits {
    SETTING_OWN = 1,    /* each server of a cluster has its own; others had better be the same */
    SETTING_SECRET = 2, /* may hold a password: nobody is shown its value */
};

struct setting {
    const char *name;
    enum setting_kind kind;
    size_t offset; /* in struct server_options */
    size_t size;
    const char
        *fallback; /* the default, written as a user would; NULL: as engine_defaults has it */
    uint64_t min;
    uint64_t max;
    const char *choices; /* SETTING_CHOICE: "full|normal" */
    const char *help;
    unsigned traits; /* set of enum setting_traits */
};

extern const struct setting settings_all[];
extern const size_t settings_count;

/* A value and what it is for: from --set, or from a flag of its own. */
struct setting_value {
    struct str name;
    struct str value;
};

/* NULL when there is no such setting. */
const struct setting *settings_find(struct str name);

/* RC_INVALID with a sentence naming the setting when the value does not fit it. A text value is
 * copied into the arena. */
enum rc settings_set(struct server_options *options, const struct setting *setting,
                     struct str value, enum setting_source source, struct arena *arena,
                     struct err *err);

/* Each takes what its source says; unknown names are refused with the name, and with its line when
 * they come from a config file. */
void settings_defaults(struct server_options *options, struct arena *arena);
enum rc settings_from_config(struct server_options *options, struct str json, struct arena *arena,
                             struct err *err);
enum rc settings_from_env(struct server_options *options, settings_env *env, struct arena *arena,
                          struct err *err);
enum rc settings_from_values(struct server_options *options, const struct setting_value *values,
                             size_t count, enum setting_source source, struct arena *arena,
                             struct err *err);

/* The value was changed since, to fit the machine or another setting: settings_is_adjusted. */
void settings_note_adjusted(struct server_options *options, struct str name);
bool settings_is_adjusted(const struct server_options *options, const struct setting *setting);
enum setting_source settings_source(const struct server_options *options,
                                    const struct setting *setting);
/* "flag", "environment", "config_file", "default". */
struct str settings_source_name(enum setting_source source);
/* "BELFRY_LEASE_MS", in the arena. */
const char *settings_variable(const struct setting *setting, struct arena *arena);
/* The value in force as a user would write it ("20s", "1MiB"), in the arena. Of a secret only
 * whether there is one: "set", or nothing. */
struct str settings_value_text(const struct server_options *options, const struct setting *setting,
                               struct arena *arena);

/* The value of a number, a size or a time. */
uint64_t settings_quantity(const struct server_options *options, const struct setting *setting);
/* The default as a user would write it, in ret_text (of WHEN_TEXT_MAX) if it has to be printed. */
struct str settings_default_text(const struct setting *setting, char *ret_text);

/* For the help page: a line per setting with its name, default and meaning. */
void settings_help(struct buf *out);
/* The same as a table in Markdown, for docs/operations.md. */
void settings_table_print(struct buf *out);
