/* log_frame.h - output on its way from a worker to the server: application/x-belfry-log.
 *
 * A body is any number of frames, each a line and the bytes it announces:
 *
 *     EXECUTION_ID TOKEN ATTEMPT SEQ STREAM UNIX_MS LENGTH\n
 *     LENGTH bytes, any, and \n
 *
 * One blank between words, numbers in decimal without leading zeros: a chunk has one form only. */
#pragma once
#include "base/buf.h"
#include "job/log.h"

#define LOG_FRAME_TYPE "application/x-belfry-log"

void log_frame_print(struct buf *out, const struct log_chunk *chunk);

/* Takes the next frame off *rest, which must not be empty; bytes point into it. RC_INVALID for
 * anything that log_frame_print would not have written, RC_TOO_LARGE above LOG_CHUNK_BYTES_MAX. */
enum rc log_frame_next(struct str *rest, struct log_chunk *ret_chunk, struct err *err);
