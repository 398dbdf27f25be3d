/* depends_remote.h - dependencies between partitions: the messages of their owners. */
#pragma once
#include "engine/depend/depends.h"

/* Tells the upstream's owner that the edge waits, or that it does not any more. */
void remote_wait(struct engine *e, const struct edge *edge);
void remote_unwait(struct engine *e, const struct edge *edge);
/* Tells the owner of a waiting execution how the upstream ended. */
void remote_over(struct engine *e, const struct edge *edge, const struct ended *ended);
/* The same three, as they reach us. */
void heard_wait(struct engine *e, const struct inbox_rec *rec);
void heard_unwait(struct engine *e, const struct inbox_rec *rec);
void heard_over(struct engine *e, const struct inbox_rec *rec);
