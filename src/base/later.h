/* later.h - the words that refuse what users were promised and this version does not have: fields,
 * options, commands and calls. */
#pragma once

#define LATER_WORDS "is not supported by this version yet"
