/* date.h - dates as numbers of days.
 *
 * The proleptic Gregorian calendar, for years from 0 to 9999 and somewhat beyond. Days count from
 * 1970-01-01, which is day 0 and a Thursday. Pure arithmetic: no zone, no clock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { DATE_SUNDAY = 0, DATE_SATURDAY = 6 };

/* The calendar repeats itself after 400 years, weekdays included: 146097 days are whole weeks. */
#define DATE_CYCLE_YEARS 400
#define DATE_CYCLE_DAYS 146097

struct date {
    int64_t year;
    unsigned month; /* 1 to 12 */
    unsigned day;   /* 1 to 31 */
};

int64_t date_to_days(int64_t year, unsigned month, unsigned day);
struct date date_from_days(int64_t days);

bool date_is_leap(int64_t year);
unsigned date_month_days(int64_t year, unsigned month); /* 28 to 31 */
unsigned date_weekday(int64_t days);                    /* 0 is Sunday */
