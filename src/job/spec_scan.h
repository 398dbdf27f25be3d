/* spec_scan.h - one value out of a job's canonical text, without reading the rest of it.
 *
 * For lists that are restricted by a field which has no column: the value is compared as text. That
 * is enough, since the canonical text of a value is always the same. */
#pragma once
#include "base/str.h"

/* The value of a member of the outermost object, as it is written there; empty when there is no
 * such member. The text is what spec_text (wire/spec/spec_json.h) made; of anything else some
 * part of it is returned, or nothing. */
struct str spec_scan(struct str text, struct str key);
/* spec_recurs of such a text. */
bool spec_scan_recurs(struct str text);
