#include "base/date.h"

#include "base/test/test.h"

TEST(days_and_dates_are_two_names_for_the_same)
{
    int64_t days = date_to_days(0, 1, 1);
    for (int64_t year = 0; year <= 9999; year++) {
        for (unsigned month = 1; month <= 12; month++) {
            for (unsigned day = 1; day <= date_month_days(year, month); day++, days++) {
                struct date date = date_from_days(days);
                assert_int_equal(date_to_days(year, month, day), days);
                assert_true(date.year == year && date.month == month && date.day == day);
            }
        }
    }
    assert_int_equal(days, date_to_days(10000, 1, 1));
}

TEST(the_first_of_1970_is_day_zero_and_a_thursday)
{
    assert_int_equal(date_to_days(1970, 1, 1), 0);
    assert_int_equal(date_weekday(0), 4);
    assert_int_equal(date_weekday(-1), 3);
    assert_int_equal(date_weekday(date_to_days(2026, 11, 16)), 1);
    assert_int_equal(date_weekday(date_to_days(0, 1, 1)), DATE_SATURDAY);
}

TEST(centuries_are_leap_years_when_they_divide_by_400)
{
    assert_int_equal(date_month_days(1900, 2), 28);
    assert_int_equal(date_month_days(2000, 2), 29);
    assert_int_equal(date_month_days(2024, 2), 29);
    assert_int_equal(date_month_days(2026, 2), 28);
}

TEST(the_calendar_repeats_after_a_cycle)
{
    assert_int_equal(date_to_days(2426, 3, 1) - date_to_days(2026, 3, 1), DATE_CYCLE_DAYS);
    assert_int_equal(DATE_CYCLE_DAYS % 7, 0);
}
