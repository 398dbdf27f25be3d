#include "job/command/command_facts.h"

#include "base/test/test.h"

TEST(only_a_command_about_an_id_goes_to_the_owner_of_one)
{
    for (enum command_kind kind = CMD_SUBMIT; kind < COMMAND_KINDS; kind++) {
        const struct command_facts *facts = command_facts(kind);
        assert_int_equal(facts->place == PLACE_OWNER, facts->subject != ABOUT_NO_ID);
    }
}

/* An answer that was lost is asked for again under the same key; without one it is not. */
TEST(a_command_that_takes_a_key_is_not_repeated_without_one)
{
    for (enum command_kind kind = CMD_SUBMIT; kind < COMMAND_KINDS; kind++) {
        if (command_facts(kind)->takes_key)
            assert_int_equal(command_facts(kind)->repeat, REPEAT_NEVER);
    }
}

TEST(one_server_changes_a_queue_and_all_of_them_know_a_part_of_it)
{
    struct command cmd = {.kind = CMD_QUEUE};
    assert_int_equal(command_place(&cmd), PLACE_ALL);
    cmd.queue.forget = true;
    assert_int_equal(command_place(&cmd), PLACE_FIRST);
    cmd.queue = (struct queue_wish){.run = QUEUE_RESUME};
    assert_int_equal(command_place(&cmd), PLACE_FIRST);
    cmd.queue = (struct queue_wish){.set_concurrency = true};
    assert_int_equal(command_place(&cmd), PLACE_FIRST);
    cmd = (struct command){.kind = CMD_TEAM};
    assert_int_equal(command_place(&cmd), PLACE_ALL);
    cmd.team.set_concurrency = true;
    assert_int_equal(command_place(&cmd), PLACE_FIRST);
}

TEST(the_id_of_a_command_is_found_wherever_it_keeps_it)
{
    assert_int_equal(command_id(&(struct command){.kind = CMD_DRAIN, .target.id = 7}), 7);
    assert_int_equal(command_id(&(struct command){.kind = CMD_EDIT_JOB, .edit.id = 8}), 8);
    assert_int_equal(command_id(&(struct command){.kind = CMD_ALERT_SENT, .alert.id = 9}), 9);
}
