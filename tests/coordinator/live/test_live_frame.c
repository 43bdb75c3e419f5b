#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/live/live_frame.h"

static struct live_frame from, to;
static struct buf out;

static int set_up(void **state)
{
    (void)state;
    live_frame_init(&from, 20, false);
    live_frame_init(&to, 20, false);
    buf_init(&out, 4096);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    live_frame_fini(&from);
    live_frame_fini(&to);
    buf_fini(&out);
    return 0;
}

static void line(struct live_frame *frame, const char *text)
{
    live_frame_line(frame);
    live_frame_put(frame, SCREEN_PLAIN, "%s", text);
}

static void the_first_frame_is_printed(void **state)
{
    (void)state;
    line(&to, "one");
    line(&to, "two");
    live_frame_turn(&from, &to, &out);
    assert_string_equal(buf_text(&out), "one\ntwo\n");
}

static void the_same_frame_takes_no_byte(void **state)
{
    (void)state;
    line(&from, "one");
    line(&to, "one");
    live_frame_turn(&from, &to, &out);
    assert_string_equal(buf_text(&out), "");
}

static void what_changed_is_written_from_where_it_differs(void **state)
{
    (void)state;
    line(&from, "one");
    line(&from, "counted 12");
    line(&from, "three");
    line(&to, "one");
    line(&to, "counted 13");
    line(&to, "three");
    live_frame_turn(&from, &to, &out);
    assert_string_equal(buf_text(&out), "\r\033[2A\033[9C3\n\n");
}

static void what_is_shorter_is_erased_to_its_end(void **state)
{
    (void)state;
    line(&from, "two words");
    line(&to, "one");
    live_frame_turn(&from, &to, &out);
    assert_string_equal(buf_text(&out), "\r\033[1Aone\033[K\n");
}

static void lines_come_and_go(void **state)
{
    (void)state;
    line(&from, "one");
    line(&to, "one");
    line(&to, "two");
    live_frame_turn(&from, &to, &out);
    assert_string_equal(buf_text(&out), "two\n");
    buf_clear(&out);
    live_frame_turn(&to, &from, &out);
    assert_string_equal(buf_text(&out), "\r\033[1A\033[J");
}

/* The column of "ü" is one, though it has two bytes. */
static void columns_are_characters(void **state)
{
    (void)state;
    line(&from, "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc 1");
    line(&to, "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc 2");
    live_frame_turn(&from, &to, &out);
    assert_string_equal(buf_text(&out), "\r\033[1A\033[6C2\n");
    assert_int_equal(live_frame_room(&to), 19 - 7);
}

/* 19 columns are two rows of ten: so many are erased. */
static void after_a_resize_all_is_drawn_again(void **state)
{
    (void)state;
    line(&from, "0123456789012345678");
    line(&from, "short");
    to.columns = 10;
    line(&to, "one");
    live_frame_turn(&from, &to, &out);
    assert_string_equal(buf_text(&out), "\r\033[3A\r\033[Jone\n");
}

static void a_line_never_reaches_the_last_column(void **state)
{
    (void)state;
    line(&to, "0123456789012345678");
    assert_string_equal(buf_text(&to.lines[0].text), "0123456789012345678");
    line(&to, "01234567890123456789");
    assert_string_equal(buf_text(&to.lines[1].text), "01234567890123456..");
    assert_int_equal(to.lines[1].columns, 19);
    live_frame_put(&to, SCREEN_PLAIN, "more");
    assert_string_equal(buf_text(&to.lines[1].text), "01234567890123456..");
}

static void colours_take_no_column(void **state)
{
    (void)state;
    to.colours = true;
    live_frame_line(&to);
    live_frame_put(&to, SCREEN_BAD, "lost");
    assert_string_equal(buf_text(&to.lines[0].text), "\033[31mlost\033[0m");
    assert_int_equal(to.lines[0].columns, 4);
}

/* What a host sends as its name must not move the cursor. */
static void text_from_outside_is_made_safe(void **state)
{
    (void)state;
    line(&to, "a\033[2Jb\nc");
    assert_string_equal(buf_text(&to.lines[0].text), "a?[2Jb?c");
}

static void a_word_stands_above_the_frame(void **state)
{
    (void)state;
    line(&from, "one");
    line(&from, "two");
    live_frame_say(&from, 20, "a word", &out);
    assert_string_equal(buf_text(&out), "\r\033[2A\r\033[Ja word\none\ntwo\n");
    buf_clear(&out);
    live_frame_say(&to, 20, "a word", &out);
    assert_string_equal(buf_text(&out), "a word\n");
}

static void the_head_stays_at_the_end(void **state)
{
    (void)state;
    line(&from, "one");
    line(&from, "two");
    line(&from, "three");
    from.head = 1;
    live_frame_end(&from, 20, &out);
    assert_string_equal(buf_text(&out), "\r\033[2A\r\033[J");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_first_frame_is_printed),
        CASE(the_same_frame_takes_no_byte),
        CASE(what_changed_is_written_from_where_it_differs),
        CASE(what_is_shorter_is_erased_to_its_end),
        CASE(lines_come_and_go),
        CASE(columns_are_characters),
        CASE(after_a_resize_all_is_drawn_again),
        CASE(a_line_never_reaches_the_last_column),
        CASE(colours_take_no_column),
        CASE(text_from_outside_is_made_safe),
        CASE(a_word_stands_above_the_frame),
        CASE(the_head_stays_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
