/* rejected_json.h - a submission that could not be made, as lists show it. */
#pragma once
#include "job/record/inbox.h"
#include "wire/json/json.h"

void rejected_print(struct json_writer *w, const struct rejected_rec *rec);
