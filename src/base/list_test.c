#include "base/list.h"

#include "base/test/test.h"

struct thing {
    int number;
    struct list_node node;
};

static void fill(struct list *list, struct thing *things, int count, int from)
{
    list_init(list);
    for (int i = 0; i < count; i++) {
        things[i] = (struct thing){.number = from + i};
        list_push_back(list, &things[i].node);
    }
}

static void assert_numbers(const struct list *list, const int *expected, size_t count)
{
    size_t i = 0;
    LIST_EACH(list, node)
    {
        assert_true(i < count);
        assert_int_equal(CONTAINER_OF(node, struct thing, node)->number, expected[i++]);
    }
    assert_int_equal(i, count);
}

TEST(things_come_in_the_order_they_were_added)
{
    struct list list;
    struct thing things[3];
    fill(&list, things, 3, 1);
    assert_numbers(&list, (int[]){1, 2, 3}, 3);
}

TEST(a_thing_may_leave_from_anywhere_and_twice)
{
    struct list list;
    struct thing things[3];
    fill(&list, things, 3, 1);
    list_remove(&things[1].node);
    list_remove(&things[1].node);
    assert_false(list_linked(&things[1].node));
    assert_numbers(&list, (int[]){1, 3}, 2);
}

TEST(the_current_thing_may_leave_while_walking)
{
    struct list list;
    struct thing things[3];
    fill(&list, things, 3, 1);
    LIST_EACH(&list, node)
    {
        list_remove(node);
    }
    assert_true(list_empty(&list));
}

TEST(popping_takes_the_first_until_none_is_left)
{
    struct list list;
    struct thing things[2];
    fill(&list, things, 2, 1);
    assert_ptr_equal(list_pop_front(&list), &things[0].node);
    assert_ptr_equal(list_pop_front(&list), &things[1].node);
    assert_null(list_pop_front(&list));
    assert_null(list_first(&list));
}

TEST(a_thing_may_be_put_before_any_other)
{
    struct list list;
    struct thing things[2];
    struct thing first = {.number = 7};
    struct thing second = {.number = 8};
    struct thing last = {.number = 9};
    fill(&list, things, 2, 1);
    list_insert_before(&things[0].node, &first.node);
    list_insert_before(&things[1].node, &second.node);
    list_insert_before(&list.head, &last.node);
    assert_numbers(&list, (int[]){7, 1, 8, 2, 9}, 5);
}

TEST(splicing_moves_all_behind_the_last)
{
    struct list to;
    struct list from;
    struct thing first[2];
    struct thing second[2];
    fill(&to, first, 2, 1);
    fill(&from, second, 2, 3);
    list_splice_back(&to, &from);
    assert_numbers(&to, (int[]){1, 2, 3, 4}, 4);
    assert_true(list_empty(&from));
}

TEST(splicing_an_empty_list_changes_nothing)
{
    struct list to;
    struct list from;
    struct thing things[1];
    fill(&to, things, 1, 1);
    list_init(&from);
    list_splice_back(&to, &from);
    assert_numbers(&to, (int[]){1}, 1);
    list_splice_back(&from, &to);
    assert_numbers(&from, (int[]){1}, 1);
}
