#include "base/err.h"

#include "base/heap.h"
#include "base/test/test.h"

enum { THINGS = 300, STEPS = 20000 };

static struct rng rng;

/* The naive model: everything is looked at. */
struct thing {
    struct heap_node node;
    bool in;
    uint64_t key;
};

static size_t naive_min(const struct thing *things)
{
    size_t min = THINGS;
    for (size_t i = 0; i < THINGS; i++) {
        if (things[i].in && (min == THINGS || things[i].key < things[min].key))
            min = i; /* of equal keys the first: the tie is the index */
    }
    return min;
}

static void assert_same_min(const struct heap *heap, const struct thing *things)
{
    size_t min = naive_min(things);
    const struct heap_item *item = heap_min(heap);
    if (min == THINGS) {
        assert_null(item);
        return;
    }
    assert_ptr_equal(item->node, &things[min].node);
    assert_int_equal(item->key, things[min].key);
}

TEST(a_random_history_agrees_with_looking_at_everything)
{
    struct heap heap = {0};
    static struct thing things[THINGS];
    for (int step = 0; step < STEPS; step++) {
        size_t i = rng_below(&rng, THINGS);
        struct thing *thing = &things[i];
        if (rng_below(&rng, 3) == 0) {
            heap_remove(&heap, &thing->node);
            thing->in = false;
        } else {
            thing->key = rng_below(&rng, 50); /* few keys: ties matter */
            heap_set(&heap, &thing->node, thing->key, i);
            thing->in = true;
        }
        assert_int_equal(heap_holds(&thing->node), thing->in);
        assert_same_min(&heap, things);
    }
    heap_free(&heap);
}

TEST(what_goes_in_anyhow_comes_out_sorted)
{
    struct heap heap = {0};
    static struct heap_node nodes[5000];
    for (size_t i = 0; i < COUNT_OF(nodes); i++)
        heap_push(&heap, &nodes[i], rng_next(&rng), i);
    uint64_t last = 0;
    for (size_t i = 0; i < COUNT_OF(nodes); i++) {
        struct heap_item min = *heap_min(&heap);
        assert_true(min.key >= last);
        last = min.key;
        heap_remove(&heap, min.node);
    }
    assert_null(heap_min(&heap));
    heap_free(&heap);
}

TEST(equal_keys_come_out_by_their_ties)
{
    struct heap heap = {0};
    struct heap_node nodes[3] = {{0}};
    heap_push(&heap, &nodes[0], 5, 30);
    heap_push(&heap, &nodes[1], 5, 10);
    heap_push(&heap, &nodes[2], 5, 20);
    assert_ptr_equal(heap_min(&heap)->node, &nodes[1]);
    heap_remove(&heap, &nodes[1]);
    assert_ptr_equal(heap_min(&heap)->node, &nodes[2]);
    heap_free(&heap);
}

TEST(removing_what_is_in_no_heap_does_nothing)
{
    struct heap heap = {0};
    struct heap_node node = {0};
    heap_remove(&heap, &node);
    heap_push(&heap, &node, 1, 1);
    heap_remove(&heap, &node);
    heap_remove(&heap, &node);
    assert_false(heap_holds(&node));
    heap_free(&heap);
}

TEST(the_largest_keys_are_keys_too)
{
    struct heap heap = {0};
    struct heap_node nodes[2] = {{0}};
    heap_push(&heap, &nodes[0], UINT64_MAX, UINT64_MAX);
    heap_push(&heap, &nodes[1], UINT64_MAX, 0);
    assert_ptr_equal(heap_min(&heap)->node, &nodes[1]);
    heap_free(&heap);
}

/* Likes keys that divisor divides. */
static bool is_multiple(const void *divisor, struct heap_node *node)
{
    const struct thing *thing = (const struct thing *)(const void *)node;
    return thing->key % *(const uint64_t *)divisor == 0;
}

TEST(find_agrees_with_looking_at_everything)
{
    struct heap heap = {0};
    static struct thing things[THINGS];
    for (size_t i = 0; i < THINGS; i++) {
        things[i].key = 1 + rng_below(&rng, 200);
        heap_push(&heap, &things[i].node, things[i].key, i);
    }
    for (uint64_t divisor = 1; divisor < 250; divisor++) {
        for (size_t i = 0; i < THINGS; i++)
            things[i].in = things[i].key % divisor == 0;
        size_t min = naive_min(things);
        const struct heap_item *item = heap_find(&heap, is_multiple, &divisor);
        assert_ptr_equal(item == NULL ? NULL : item->node,
                         min == THINGS ? NULL : &things[min].node);
    }
    heap_free(&heap);
    assert_null(heap_find(&heap, is_multiple, &(uint64_t){1}));
}

TEST(counting_agrees_with_looking_at_everything_and_stops_at_its_bound)
{
    struct heap heap = {0};
    static struct thing things[THINGS];
    for (size_t i = 0; i < THINGS; i++) {
        things[i].node.place = 0;
        heap_push(&heap, &things[i].node, 1 + rng_below(&rng, 200), i);
    }
    for (uint32_t i = 0; i < heap.len; i++) {
        const struct heap_item *item = &heap.items[i];
        size_t expected = 0;
        for (uint32_t j = 0; j < heap.len; j++) {
            const struct heap_item *other = &heap.items[j];
            expected += other->key != item->key ? other->key < item->key : other->tie < item->tie;
        }
        assert_int_equal(heap_count_before(&heap, item, SIZE_MAX), expected);
        assert_int_equal(heap_count_before(&heap, item, 10), expected < 10 ? expected : 10);
    }
    struct heap_item any = heap.items[0];
    heap_free(&heap);
    assert_int_equal(heap_count_before(&heap, &any, 10), 0);
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    return 0;
}

TEST_GROUP(begin, NULL)
