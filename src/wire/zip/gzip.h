/* gzip.h - bodies of messages, packed and unpacked (RFC 1952). The only room that knows zlib. */
#pragma once
#include "base/buf.h"

/* Packs at the fastest level: it takes JSON to a fifth or less, at some 100 MB a second. False when
 * that would not be shorter; *ret_packed, which starts empty, is then of no use. */
bool gzip_pack(struct str plain, struct buf *ret_packed);

/* Unpacks a whole body, one or more members without anything behind them. RC_TOO_LARGE as soon as
 * there are more than ret_plain->max bytes, however many there would be; RC_INVALID for what is no
 * gzip, is cut off or damaged. */
enum rc gzip_unpack(struct str packed, struct buf *ret_plain, struct err *err);
