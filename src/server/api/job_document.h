/* job_document.h - job documents as calls carry them: read, refused, and what is told about when
 * they run. */
#pragma once
#include "server/call/request.h"

/* False, and answered, when the server is going away: it takes nothing new. */
bool job_intake(struct request *r);

/* RC_TOO_LARGE when this server takes no such payload. */
enum rc job_payload_check(const struct request *r, struct str payload, struct err *err);

/* Reads one document. RC_INVALID fills errors, which starts zeroed, any other failure err. */
enum rc job_document_read(struct request *r, const struct json *doc, struct spec *ret_spec,
                          struct submission *ret_item, struct field_errors *errors,
                          struct err *err);
/* The same for what a patch makes of a job: without a timeout it has none, whatever the default. */
enum rc job_document_read_patched(struct request *r, const struct json *doc, struct spec *ret_spec,
                                  struct submission *ret_item, struct field_errors *errors,
                                  struct err *err);
/* Answers what job_document_read said. */
void job_document_refuse(struct request *r, enum rc rc, const struct field_errors *errors,
                         const struct err *err);

/* The members about when it runs: its words and next runs. due_ms is the next one's, 0 when none is
 * planned; from_ms is now. */
void job_document_put_plan(struct json_writer *w, struct request *r, const struct spec *spec,
                           const struct submission *item, int64_t from_ms, int64_t due_ms);
/* The members of the answer about a job that was made, or is there already (`unique`). */
void job_document_put_created(struct json_writer *w, struct request *r, const struct spec *spec,
                              const struct submission *item);
