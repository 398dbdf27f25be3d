#include "base/map.h"
#include "base/rng_test.h"

#include <stdio.h>

enum { KEYS = 400, STEPS = 50000 };

static struct rng rng;

/* What the naive model holds under each key, and something to point at. */
static int values[KEYS];
static void *held[KEYS];

static void forget_all(void)
{
    for (size_t i = 0; i < KEYS; i++)
        held[i] = NULL;
}

static size_t count_held(void)
{
    size_t count = 0;
    for (size_t i = 0; i < KEYS; i++)
        count += held[i] != NULL;
    return count;
}

/* Keys as they are in life: close together, apart by a large power of two, and 0. */
static uint64_t number_of(size_t i)
{
    return i % 2 == 0 ? i : (uint64_t)i << 40;
}

static void a_random_history_of_numbers_agrees_with_an_array(void **state)
{
    (void)state;
    struct map map = {0};
    forget_all();
    for (int step = 0; step < STEPS; step++) {
        size_t i = rng_below(&rng, KEYS);
        if (rng_below(&rng, 2) == 0) {
            assert_ptr_equal(map_remove(&map, number_of(i)), held[i]);
            held[i] = NULL;
        } else {
            held[i] = &values[rng_below(&rng, KEYS)];
            map_put(&map, number_of(i), held[i]);
        }
        size_t k = rng_below(&rng, KEYS);
        assert_ptr_equal(map_get(&map, number_of(k)), held[k]);
        assert_int_equal(map.len, count_held());
    }
    map_free(&map);
}

static void a_random_history_of_texts_agrees_with_an_array(void **state)
{
    (void)state;
    static char names[KEYS][16];
    struct strmap map = {0};
    forget_all();
    for (size_t i = 0; i < KEYS; i++)
        snprintf(names[i], sizeof names[i], "queue-%zu", i);
    for (int step = 0; step < STEPS; step++) {
        size_t i = rng_below(&rng, KEYS);
        if (rng_below(&rng, 2) == 0) {
            assert_ptr_equal(strmap_remove(&map, str_c(names[i])), held[i]);
            held[i] = NULL;
        } else {
            held[i] = &values[rng_below(&rng, KEYS)];
            strmap_put(&map, str_c(names[i]), held[i]);
        }
        size_t k = rng_below(&rng, KEYS);
        assert_ptr_equal(strmap_get(&map, str_c(names[k])), held[k]);
        assert_int_equal(map.len, count_held());
    }
    strmap_free(&map);
}

static void an_empty_map_has_nothing_and_loses_nothing(void **state)
{
    (void)state;
    struct map map = {0};
    struct strmap strmap = {0};
    assert_null(map_get(&map, 1));
    assert_null(map_remove(&map, 1));
    assert_null(strmap_get(&strmap, STR("a")));
    assert_null(strmap_remove(&strmap, STR("a")));
    map_free(&map);
    strmap_free(&strmap);
}

static void walking_meets_every_value_once(void **state)
{
    (void)state;
    struct map map = {0};
    int seen[100] = {0};
    for (uint64_t i = 0; i < COUNT_OF(seen); i++)
        map_put(&map, i * 1024, &seen[i]);
    MAP_EACH(&map, slot)
    {
        ++*(int *)slot->value;
    }
    for (size_t i = 0; i < COUNT_OF(seen); i++)
        assert_int_equal(seen[i], 1);
    map_free(&map);
}

static void walking_an_empty_map_meets_nobody(void **state)
{
    (void)state;
    struct map map = {0};
    MAP_EACH(&map, slot)
    {
        fail();
    }
}

static void the_empty_text_is_a_key(void **state)
{
    (void)state;
    struct strmap map = {0};
    strmap_put(&map, STR(""), &values[0]);
    assert_ptr_equal(strmap_get(&map, str_of(NULL, 0)), &values[0]);
    strmap_free(&map);
}

int main(int argc, char **argv)
{
    rng = rng_for_test(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_random_history_of_numbers_agrees_with_an_array),
        cmocka_unit_test(a_random_history_of_texts_agrees_with_an_array),
        cmocka_unit_test(an_empty_map_has_nothing_and_loses_nothing),
        cmocka_unit_test(walking_meets_every_value_once),
        cmocka_unit_test(walking_an_empty_map_meets_nobody),
        cmocka_unit_test(the_empty_text_is_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
