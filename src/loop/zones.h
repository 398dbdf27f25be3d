/* zones.h - the time zones of this system, by name.
 *
 * Zones are read from TZif files below /usr/share/zoneinfo (or TZDIR), which the package tzdata
 * brings, when they are asked for, and kept. A file that changed since (tzdata was updated) is read
 * again when its zone is next asked for. The zone that was handed out before stays valid until
 * zones_free: another thread may be computing with it, and laws do not change often enough to fill
 * a memory. So a `const struct zone *` may be kept; asking again says whether there is a newer one.
 *
 * May be called from every thread. Reading blocks: not for a loop that serves. */
#pragma once
#include "job/time/zone.h"

enum { ZONE_NAME_BYTES_MAX = 100 };

struct zones;

/* dir may be NULL: TZDIR, else the usual place. */
struct zones *zones_new(const char *dir);
void zones_free(struct zones *zones);

/* From now on a file is looked at again at the earliest after so long: for who asks a million times
 * at once. 0, at first: every time. */
void zones_trust_ms(struct zones *zones, int64_t ms);

/* Looks at the files of all zones that were ever asked for, and tells of each zone that was handed
 * out before and has other rules now; twice, since one may still be on its way to who is told. One
 * whose file is gone or broken stays as it was. */
void zones_refresh(struct zones *zones,
                   void (*on_newer)(void *arg, const struct zone *old, const struct zone *newer),
                   void *arg);

/* The zone as it is on the disk now. RC_INVALID when the name is none, or there is no such zone;
 * RC_CORRUPT or RC_IO when its file cannot be used. "UTC" is always there. */
enum rc zones_find(struct zones *zones, struct str name, const struct zone **ret_zone,
                   struct err *err);
