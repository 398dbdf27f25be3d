/* command_facts.h - what is true of each kind of command: one table, a row per kind.
 *
 * The engine, the turn and the routes read these rows, so that a fact about a command stands in one
 * place. A route names the command that it sends and inherits the row (server/call/routes.c). */
#pragma once
#include "job/command/command.h"

/* Which of several servers decides about a command. */
enum command_place {
    PLACE_ASKED = 1,  /* the one that was asked */
    PLACE_OWNER,      /* the owner of the id that the command is about */
    PLACE_ANY_OWNER,  /* any that owns a partition: the command makes an id */
    PLACE_FIRST,      /* the owner of the first partition, which writes what belongs to all */
    PLACE_ALL,        /* all of them: each knows a part of the answer */
    PLACE_ALL_OWNERS, /* all that own a partition: each does a part of the work */
};

/* Whether a request may be sent again when it was sent to another server and no answer came. */
enum command_repeat {
    REPEAT_NEVER = 1, /* doing it twice does harm */
    REPEAT_FREELY,    /* doing it twice is doing it once, and is answered alike */
    REPEAT_IN_DOUBT,  /* doing it twice is doing it once, but the second answer is a refusal */
};

/* The kind of thing that the id in a command, or in the path of a route, belongs to. */
enum command_subject {
    ABOUT_NO_ID,
    ABOUT_JOB,
    ABOUT_EXEC,
    ABOUT_LETTER, /* which has the id of its execution */
    ABOUT_WORKER,
    ABOUT_ALERT,
    ABOUT_OPERATION,
    ABOUT_NAME, /* it is a name, of what may not be there yet */
};

struct command_facts {
    enum command_place place;
    enum command_repeat repeat; /* without an idempotency key */
    enum command_subject subject;
    bool takes_key;       /* an idempotency key: it makes something, which must not be made twice */
    bool works_in_outage; /* it is decided also while the store takes no commits */
    enum reply_kind reply;
};

const struct command_facts *command_facts(enum command_kind kind);

/* As the facts say, but for a command that could change a queue or a team and only looks at it:
 * each server knows a part of that answer. */
enum command_place command_place(const struct command *cmd);
/* The id that the command is about; its facts name a subject. */
uint64_t command_id(const struct command *cmd);
/* How the ids of a subject begin, "job_"; not of ABOUT_NO_ID. */
const char *command_id_prefix(enum command_subject subject);
