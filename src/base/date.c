#include "base/date.h"

/* Years start in March here, so that the leap day is the last one of a year. */
int64_t date_to_days(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DATE_CYCLE_DAYS + day_of_era - 719468;
}

struct date date_from_days(int64_t days)
{
    struct date date;
    days += 719468;
    int64_t era = (days >= 0 ? days : days - (DATE_CYCLE_DAYS - 1)) / DATE_CYCLE_DAYS;
    int64_t day_of_era = days - era * DATE_CYCLE_DAYS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    date.day = (unsigned)(day_of_year - (153 * month + 2) / 5 + 1);
    date.month = (unsigned)(month < 10 ? month + 3 : month - 9);
    date.year = year_of_era + era * 400 + (date.month <= 2);
    return date;
}

bool date_is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

unsigned date_month_days(int64_t year, unsigned month)
{
    static const unsigned char lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return lengths[month - 1] + (month == 2 && date_is_leap(year));
}

unsigned date_weekday(int64_t days)
{
    int64_t since_sunday = (days + 4) % 7; /* day 0 was a Thursday */
    return (unsigned)(since_sunday < 0 ? since_sunday + 7 : since_sunday);
}
