#include "engine/base/queue.h"
#include "tests/support/suite.h"

#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { THINGS = 10000, PRODUCERS = 3 };

static int things[THINGS];

START_TEST(things_come_out_in_their_order)
{
    struct queue *queue = queue_new(3);
    for (size_t round = 0; round < 5; round++) {
        ck_assert(queue_push(queue, &things[0]));
        ck_assert(queue_push(queue, &things[1]));
        ck_assert_ptr_eq(queue_pop(queue), &things[0]);
        ck_assert_ptr_eq(queue_pop(queue), &things[1]);
    }
    queue_free(queue);
}
END_TEST

START_TEST(a_closed_queue_is_emptied_and_takes_nothing)
{
    struct queue *queue = queue_new(2);
    ck_assert(queue_push(queue, &things[0]));
    queue_close(queue);
    ck_assert(!queue_push(queue, &things[1]));
    ck_assert_ptr_eq(queue_pop(queue), &things[0]);
    ck_assert_ptr_null(queue_pop(queue));
    queue_free(queue);
}
END_TEST

static void *produce(void *argument)
{
    struct queue *queue = argument;
    for (size_t i = 0; i < THINGS; i++) {
        if (!queue_push(queue, &things[i])) {
            break;
        }
    }
    return NULL;
}

START_TEST(producers_wait_for_room_and_lose_nothing)
{
    struct queue *queue = queue_new(1);
    pthread_t producers[PRODUCERS];
    static int seen[THINGS];
    for (size_t i = 0; i < PRODUCERS; i++) {
        ck_assert_int_eq(pthread_create(&producers[i], NULL, produce, queue), 0);
    }
    for (size_t i = 0; i < (size_t)PRODUCERS * THINGS; i++) {
        const int *thing = queue_pop(queue);
        seen[thing - things]++;
    }
    for (size_t i = 0; i < PRODUCERS; i++) {
        (void)pthread_join(producers[i], NULL);
    }
    for (size_t i = 0; i < THINGS; i++) {
        ck_assert_int_eq(seen[i], PRODUCERS);
    }
    queue_free(queue);
}
END_TEST

START_TEST(closing_wakes_who_waits_for_room)
{
    struct queue *queue = queue_new(1);
    pthread_t producer;
    ck_assert_int_eq(pthread_create(&producer, NULL, produce, queue), 0);
    ck_assert_ptr_eq(queue_pop(queue), &things[0]);
    queue_close(queue);
    (void)pthread_join(producer, NULL);
    queue_free(queue);
}
END_TEST

static void *consume(void *argument)
{
    return queue_pop(argument);
}

START_TEST(closing_wakes_who_waits_for_a_thing)
{
    struct queue *queue = queue_new(1);
    pthread_t consumer;
    void *got = queue;
    ck_assert_int_eq(pthread_create(&consumer, NULL, consume, queue), 0);
    queue_close(queue);
    (void)pthread_join(consumer, &got);
    ck_assert_ptr_null(got);
    queue_free(queue);
}
END_TEST

int main(void)
{
    TCase *queue = tcase_create("queue");
    tcase_add_test(queue, things_come_out_in_their_order);
    tcase_add_test(queue, a_closed_queue_is_emptied_and_takes_nothing);
    tcase_add_test(queue, producers_wait_for_room_and_lose_nothing);
    tcase_add_test(queue, closing_wakes_who_waits_for_room);
    tcase_add_test(queue, closing_wakes_who_waits_for_a_thing);
    tcase_set_timeout(queue, 30);
    Suite *suite = suite_create("engine/base/queue");
    suite_add_tcase(suite, queue);
    return suite_run(suite);
}
