/* forget.h - queues come with their work and go when nothing needs them. */
#pragma once
#include "engine/core/engine.h"

struct numbers;
struct queue;

/* NULL: there is none, or this turn has forgotten it. */
struct queue *queue_find(const struct engine *e, struct str name);
/* The queue, made when new. */
struct queue *queue_of(struct engine *e, struct str name);
/* The same for a user that keeps the queue until it calls queue_leave. A queue that no commit knows
 * is gone with its last user. */
struct queue *queue_use(struct engine *e, struct str name);
void queue_leave(struct engine *e, struct queue *q);
/* RC_LIMITED: it would be one more than queues_max, and each of the others is needed. May forget
 * one that is not. */
enum rc queue_admit(struct engine *e, struct str name, struct err *err);
/* The queue's numbers or settings were committed or loaded: notes whether it is idle now. */
void queue_look(struct engine *e, struct queue *q);
/* In a turn: forgets a page of queues that were idle for long. */
void queues_step(struct engine *e);
int64_t queues_wait_ms(const struct engine *e, int64_t boot_ms);
void numbers_add(struct numbers *to, const struct numbers *add);
void queue_commit(struct engine *e, struct queue *q);
void queue_undone(struct engine *e, struct queue *q);
/* Frees the queues that the last commit forgot. */
void queues_bury(struct engine *e);
/* Between turns: all settings have been read. A queue that has some, and was not among them, has
 * lost them: another server deleted them. */
void queues_read(struct engine *e);
/* CMD_QUEUE that deletes; a server that was told by another that the queue went forgets its own
 * part. */
void ask_delete_queue(struct engine *e, struct command *cmd, struct question_list *list);
void delete_queue(struct engine *e, struct command *cmd);
