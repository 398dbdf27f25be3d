#include "base/opts.h"
#include "base/later.h"

#include <assert.h>
#include <string.h>

enum { HELP_COLUMN = 28 }; /* where the help of an option starts; longer ones get two lines */

/* One walk over argv. */
struct walk {
    const struct opts *opts;
    int argc;
    char *const *argv;
    int at;
    void *values;
    struct arena *arena;
    struct err *err;
    bool *given; /* by the place in the table */
};

int opts_choice(const char *choices, struct str word)
{
    struct str rest = str_c(choices);
    for (int i = 0; rest.ptr != NULL; i++) {
        if (str_eq(str_cut(&rest, '|'), word))
            return i;
    }
    return -1;
}

static const struct opt *find_name(const struct opts *opts, struct str name)
{
    for (size_t i = 0; i < opts->count; i++) {
        if (str_eq(str_c(opts->table[i].name), name))
            return &opts->table[i];
    }
    return NULL;
}

static const struct opt *find_letter(const struct opts *opts, char letter)
{
    for (size_t i = 0; i < opts->count; i++) {
        if (opts->table[i].letter == letter)
            return &opts->table[i];
    }
    return NULL;
}

/* At most argc words can come, so the array never grows. */
static void list_add(struct walk *w, struct opt_list *list, const char *item)
{
    if (list->items == NULL)
        list->items = ARENA_ARRAY(w->arena, const char *, (size_t)w->argc);
    list->items[list->count++] = item;
}

static enum rc set_number(struct walk *w, const struct opt *opt, int64_t *at, const char *value)
{
    int64_t number;
    if (!str_to_i64(str_c(value), &number) || number < 0 || number > OPT_NUMBER_MAX)
        return err_set(w->err, RC_INVALID, "--%s takes a whole number, not '%s'", opt->name, value);
    *at = number;
    return RC_OK;
}

static enum rc set_choice(struct walk *w, const struct opt *opt, unsigned *at, const char *value)
{
    int choice = opts_choice(opt->value, str_c(value));
    if (choice < 0)
        return err_set(w->err, RC_INVALID, "--%s takes %s, not '%s'", opt->name, opt->value, value);
    *at = (unsigned)choice;
    return RC_OK;
}

static enum rc set_value(struct walk *w, const struct opt *opt, const char *value)
{
    void *at = (char *)w->values + opt->offset;
    switch (opt->kind) {
    case OPT_FLAG: *(bool *)at = true; return RC_OK;
    case OPT_TEXT: *(const char **)at = value; return RC_OK;
    case OPT_LIST: list_add(w, at, value); return RC_OK;
    case OPT_NUMBER: return set_number(w, opt, at, value);
    case OPT_CHOICE: return set_choice(w, opt, at, value);
    case OPT_LATER: break;
    }
    return err_set(w->err, RC_UNSUPPORTED, "--%s " LATER_WORDS, opt->name);
}

/* Of two values one would be dropped without a word, and the command would do what nobody asked
 * for. */
static enum rc refuse_second(struct walk *w, const struct opt *opt)
{
    bool *given = &w->given[opt - w->opts->table];
    bool one = opt->kind == OPT_TEXT || opt->kind == OPT_NUMBER || opt->kind == OPT_CHOICE;
    if (one && *given)
        return err_set(w->err, RC_INVALID, "--%s is given twice, and takes one value", opt->name);
    *given = true;
    return RC_OK;
}

/* Takes the option at w->at; attached is its value when that stands in the same word, else NULL. */
static enum rc take(struct walk *w, const struct opt *opt, const char *attached)
{
    TRY(refuse_second(w, opt));
    if (opt->kind == OPT_FLAG && attached != NULL)
        return err_set(w->err, RC_INVALID, "--%s takes no value", opt->name);
    if (opt->kind != OPT_FLAG && opt->kind != OPT_LATER && attached == NULL) {
        if (w->at + 1 >= w->argc)
            return err_set(w->err, RC_INVALID, "--%s needs a value: %s", opt->name, opt->value);
        attached = w->argv[++w->at];
    }
    return set_value(w, opt, attached);
}

static enum rc take_long(struct walk *w, const char *word)
{
    struct str value = str_c(word + 2);
    struct str name = str_cut(&value, '=');
    const struct opt *opt = find_name(w->opts, name);
    if (opt == NULL)
        return err_set(w->err, RC_INVALID, "unknown option --%.*s", STR_ARG(name));
    return take(w, opt, value.ptr);
}

/* Letters may stand together as long as they are flags: `-fh`, but `-ojson` is -o and its value. */
static enum rc take_letters(struct walk *w, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const struct opt *opt = find_letter(w->opts, *letters);
        if (opt == NULL)
            return err_set(w->err, RC_INVALID, "unknown option -%c", *letters);
        if (opt->kind != OPT_FLAG)
            return take(w, opt, letters[1] == '\0' ? NULL : letters + 1);
        TRY(take(w, opt, NULL));
    }
    return RC_OK;
}

enum rc opts_parse(const struct opts *opts, int argc, char *const *argv, void *values,
                   struct opt_words *ret_words, struct arena *arena, struct err *err)
{
    assert(argc > 0);
    struct walk w = {opts,   argc,  argv, 1,
                     values, arena, err,  ARENA_ARRAY(arena, bool, opts->count)};
    struct opt_list words = {0};
    bool dashes = false;
    size_t dashes_at = 0;
    for (; w.at < argc; w.at++) {
        const char *word = argv[w.at];
        if (dashes || word[0] != '-' || word[1] == '\0') {
            list_add(&w, &words, word);
        } else if (strcmp(word, "--") == 0) {
            dashes = true;
            dashes_at = words.count;
        } else {
            TRY(word[1] == '-' ? take_long(&w, word) : take_letters(&w, word + 1));
        }
    }
    *ret_words = (struct opt_words){words.items, words.count, dashes ? dashes_at : words.count};
    return RC_OK;
}

static void help_line(const struct opt *opt, struct buf *out)
{
    size_t start = out->len;
    if (opt->letter != 0)
        buf_printf(out, "  -%c, ", opt->letter);
    else
        buf_add(out, STR("      "));
    buf_printf(out, "--%s", opt->name);
    if (opt->value != NULL)
        buf_printf(out, " %s", opt->value);
    if (out->len - start + 2 > HELP_COLUMN) {
        buf_add_char(out, '\n');
        start = out->len;
    }
    buf_printf(out, "%*s%s\n", (int)(HELP_COLUMN - (out->len - start)), "", opt->help);
}

void opts_help(const struct opts *opts, struct buf *out)
{
    buf_printf(out, "usage: belfry %s %s\n\n%s\n\noptions:\n", opts->command, opts->usage,
               opts->about);
    for (size_t i = 0; i < opts->count; i++) {
        if (opts->table[i].help != NULL)
            help_line(&opts->table[i], out);
    }
}
