/* operations.h - one command for many dead letters, carried out some letters a turn. */
#pragma once
#include "base/list.h"
#include "job/command.h"

struct engine;
struct question_list;
struct touched;

struct operation_values {
    enum operation_state state;
    int64_t finished_ms;
    uint64_t done;
    uint64_t refused;
    struct letter_place at;
    int64_t wake_ms; /* boot clock: not before */
    bool gone;       /* forgotten; freed when the turn is committed */
    uint32_t refusal_len;
    char refusal[OPERATION_REFUSAL_MAX];
};

/* The fields are those of its record. */
struct operation {
    uint64_t id;
    struct list_node node; /* on engine.operations, oldest first */
    enum operation_kind kind;
    struct letter_filter filter; /* its texts, and by, are in text */
    struct str by;
    int64_t created_ms;
    uint64_t total;
    struct operation_values v;
    struct touched *touched;
    char text[];
};

struct operations {
    struct list list; /* operation.node, oldest first */
    size_t count;
};

/* The part of a turn that goes on with an operation. */
struct operation_step {
    struct operation *op; /* NULL: nothing */
    struct question *letters;
    struct command *commands; /* one for each letter, to run it again */
};

void operations_ask(struct engine *e, unsigned round, struct question_list *list);
/* Goes on with the letters that operations_ask asked for. */
void operations_step(struct engine *e);
int64_t operations_wait_ms(const struct engine *e, int64_t boot_ms);
void operation_free(struct engine *e, struct operation *op);
void operations_free(struct engine *e);
struct operation_rec operation_record(const struct operation *op);
void decide_operate(struct engine *e, struct command *cmd);
void decide_operations(struct engine *e, struct command *cmd);
