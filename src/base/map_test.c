#include "base/map.h"

#include "base/test/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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

TEST(a_random_history_of_numbers_agrees_with_an_array)
{
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

TEST(a_random_history_of_texts_agrees_with_an_array)
{
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

TEST(an_empty_map_has_nothing_and_loses_nothing)
{
    struct map map = {0};
    struct strmap strmap = {0};
    assert_null(map_get(&map, 1));
    assert_null(map_remove(&map, 1));
    assert_null(strmap_get(&strmap, STR("a")));
    assert_null(strmap_remove(&strmap, STR("a")));
    map_free(&map);
    strmap_free(&strmap);
}

TEST(walking_meets_every_value_once)
{
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

TEST(walking_an_empty_map_meets_nobody)
{
    struct map map = {0};
    MAP_EACH(&map, slot)
    {
        fail();
    }
}

TEST(the_empty_text_is_a_key)
{
    struct strmap map = {0};
    strmap_put(&map, STR(""), &values[0]);
    assert_ptr_equal(strmap_get(&map, str_of(NULL, 0)), &values[0]);
    strmap_free(&map);
}

/* ---- size */

TEST(a_map_shrinks_with_what_is_in_it)
{
    enum { MANY = 100000, LEFT = 100 };
    struct map map = {0};
    struct strmap texts = {0};
    char(*names)[16] = malloc(MANY * sizeof *names);
    for (uint64_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "job-%zu", (size_t)i);
        map_put(&map, i << 22, &values[i % KEYS]);
        strmap_put(&texts, str_c(names[i]), &values[i % KEYS]);
    }
    size_t most = map.cap;
    for (uint64_t i = MANY; i-- > LEFT;) {
        assert_ptr_equal(map_remove(&map, i << 22), &values[i % KEYS]);
        assert_ptr_equal(strmap_remove(&texts, str_c(names[i])), &values[i % KEYS]);
    }
    assert_true(map.cap <= most / 64 && texts.cap <= most / 64);
    for (uint64_t i = 0; i < LEFT; i++) {
        assert_ptr_equal(map_get(&map, i << 22), &values[i % KEYS]);
        assert_ptr_equal(strmap_get(&texts, str_c(names[i])), &values[i % KEYS]);
    }
    assert_true(map.len == LEFT && texts.len == LEFT);
    map_free(&map);
    strmap_free(&texts);
    free(names);
}

TEST(what_comes_and_goes_moves_nothing)
{
    struct map map = {0};
    for (uint64_t i = 0; i < 5000; i++)
        map_put(&map, i, &values[0]);
    for (uint64_t i = 5000; map.cap == 8192 && i-- > 0;)
        map_remove(&map, i);
    assert_int_equal(map.cap, 4096);
    const struct map_slot *slots = map.slots;
    for (uint64_t i = 0; i < 2000; i++) /* about the size at which it shrank */
        map_put(&map, UINT64_MAX - i, &values[0]);
    for (uint64_t i = 0; i < 2000; i++)
        map_remove(&map, UINT64_MAX - i);
    assert_ptr_equal(map.slots, slots);
    map_free(&map);
}

/* ---- keys that somebody chose */

static int64_t cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* Numbers that a xor-shift and a multiplication by a constant, whatever is added before, take to
 * places with the same low bits: they differ at the top alone. */
static int64_t numbers_us(size_t count)
{
    struct map map = {0};
    int64_t began_us = cpu_us();
    for (uint64_t i = 0; i < count; i++)
        map_put(&map, i << 49 ^ i << 17, &values[0]);
    map_free(&map);
    return cpu_us() - began_us;
}

enum { BLOCKS = 14, BLOCK = 2 };

/* Texts of which every two words either differ in the top bit of the first and what that becomes in
 * the second, or not at all: a chain of such steps gives all of them one hash. */
static int64_t texts_us(size_t count)
{
    uint64_t(*texts)[BLOCKS * BLOCK] = calloc(count, sizeof *texts);
    struct strmap map = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < BLOCKS; k++) {
            texts[i][k * BLOCK] = i >> k & 1 ? UINT64_C(1) << 63 | UINT64_C(1) << 31 : 0;
            texts[i][k * BLOCK + 1] = i >> k & 1 ? UINT64_C(1) << 63 | UINT64_C(1) << 34 : 0;
        }
    }
    int64_t began_us = cpu_us();
    for (size_t i = 0; i < count; i++)
        strmap_put(&map, str_of((const char *)texts[i], sizeof texts[i]), &values[0]);
    int64_t took_us = cpu_us() - began_us;
    assert_int_equal(map.len, count);
    strmap_free(&map);
    free(texts);
    return took_us;
}

/* What is quadratic takes 64 times as long for 8 times as many; the best of three, since others
 * work, too. */
static void assert_linear(int64_t (*story_us)(size_t))
{
    int64_t few_us = INT64_MAX;
    int64_t many_us = INT64_MAX;
    for (int i = 0; i < 3; i++) {
        int64_t few = story_us(2048);
        int64_t many = story_us(16384);
        few_us = few < few_us ? few : few_us;
        many_us = many < many_us ? many : many_us;
    }
    print_message("2,048 in %" PRId64 " us, 16,384 in %" PRId64 " us\n", few_us, many_us);
    assert_true(many_us < 30 * (few_us + 20));
}

TEST(keys_that_were_chosen_to_meet_do_not)
{
    assert_linear(numbers_us);
    assert_linear(texts_us);
}

TEST(another_seed_is_another_order)
{
    uint64_t first[2][64];
    for (size_t i = 0; i < 2; i++) {
        struct map map = {0};
        size_t len = 0;
        map_seed(i + 1);
        for (uint64_t k = 0; k < 64; k++)
            map_put(&map, k, &values[k]);
        MAP_EACH(&map, slot) first[i][len++] = slot->key;
        for (uint64_t k = 0; k < 64; k++)
            assert_ptr_equal(map_get(&map, k), &values[k]);
        map_free(&map);
    }
    assert_memory_not_equal(first[0], first[1], sizeof first[0]);
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    return 0;
}

TEST_GROUP(begin, NULL)
