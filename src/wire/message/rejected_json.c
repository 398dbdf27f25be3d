#include "wire/message/rejected_json.h"

void rejected_print(struct json_writer *w, const struct rejected_rec *rec)
{
    json_open(w);
    json_put_id(w, "rejected_id", ID_REJECTED, rec->id);
    json_put_when(w, "at", rec->at_ms);
    json_put_int(w, "submission", (int64_t)rec->inbox_id);
    json_put_str(w, "team", rec->team);
    json_put_str(w, "actor", rec->actor);
    json_put_str(w, "reason", rec->reason);
    json_put_str(w, "head", rec->head); /* cut anywhere: the writer mends half a character */
    json_close(w);
}
