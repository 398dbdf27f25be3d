/* unique.h - work that may exist only once at a time. */
#pragma once
#include "engine/core/engine.h"

struct exec;

/* Whose success keeps a key. */
struct unique_kept {
    uint64_t job_id;
    uint64_t exec_id;
    int64_t created_ms;
    int64_t until_ms;
};

/* Asks for the key, if there is one, and in the round after that about its holder. */
void unique_ask(struct engine *e, struct command *cmd, const struct unique_rule *rule,
                uint64_t job_id, struct unique_asked *asked, struct question_list *list);
void unique_ask_holder(struct engine *e, struct command *cmd, struct unique_asked *asked,
                       struct question_list *list);
/* The execution that holds the key now; *ret_holder is NULL when the key is free, or kept.
 * RC_CONFLICT: it is not, and its holder cannot be found either. */
enum rc unique_find(struct engine *e, const struct unique_rule *rule,
                    const struct unique_asked *asked, struct exec **ret_holder, struct err *err);
/* No job holds the key, but it is kept after the success of another job. */
bool unique_is_kept(const struct engine *e, const struct unique_rule *rule,
                    const struct unique_asked *asked, struct unique_kept *ret_kept);
/* Decides a submission whose key is kept: RC_OK with item->existing, RC_OK without when it takes
 * the key over, or a refusal. */
enum rc unique_meet_kept(struct submission *item, const struct unique_kept *kept, struct err *err);
enum rc unique_refuse_kept(struct err *err, struct str key, const struct unique_kept *kept);
/* The claim that was asked for is the job's own, which was kept already. */
bool unique_kept_by_itself(const struct question *claim);
/* The job has the key from now on. */
void unique_take(struct engine *e, const struct unique_rule *rule, uint64_t job_id,
                 const struct unique_asked *asked);
/* Decides a submission whose key is held: RC_OK with item->existing, or with the holder out of the
 * way, or a refusal. */
enum rc unique_meet(struct engine *e, const struct command *cmd, struct submission *item,
                    struct exec *holder, struct err *err);
/* The key is held, and not only kept, by a job in a partition of another server. */
bool unique_is_elsewhere(const struct engine *e, const struct unique_asked *asked);
/* Decides a submission in that case: RC_OK with item->existing, or a refusal, which is RC_DEPOSED
 * when the other server has to decide. */
enum rc unique_meet_elsewhere(struct submission *item, struct err *err);
enum rc unique_taken(struct err *err, struct str key, uint64_t job_id);
/* The execution's values say that it holds the key of its job. */
bool unique_held(const struct exec *x);
void unique_place(struct engine *e, struct exec *x);
void unique_unplace(struct engine *e, struct exec *x);
/* The execution has ended, or begun, and holds the key no more: it is kept or free. */
void unique_release(struct engine *e, const struct exec *x);
