#include "engine/base/pause.h"
#include "engine/base/ticker.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

/* What a tick and the test tell each other. */
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned ticks;
    bool may_end;
    bool ended;
};

static void count(void *context)
{
    struct meeting *meeting = context;
    (void)pthread_mutex_lock(&meeting->lock);
    meeting->ticks++;
    (void)pthread_cond_broadcast(&meeting->changed);
    while (!meeting->may_end) {
        (void)pthread_cond_wait(&meeting->changed, &meeting->lock);
    }
    meeting->ended = true;
    (void)pthread_mutex_unlock(&meeting->lock);
}

static void let_end(struct meeting *meeting)
{
    (void)pthread_mutex_lock(&meeting->lock);
    meeting->may_end = true;
    (void)pthread_cond_broadcast(&meeting->changed);
    (void)pthread_mutex_unlock(&meeting->lock);
}

static void await_ticks(struct meeting *meeting, unsigned ticks)
{
    (void)pthread_mutex_lock(&meeting->lock);
    while (meeting->ticks < ticks) {
        (void)pthread_cond_wait(&meeting->changed, &meeting->lock);
    }
    (void)pthread_mutex_unlock(&meeting->lock);
}

START_TEST(a_ticker_ticks_until_it_is_stopped)
{
    struct meeting meeting = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .may_end = true};
    struct ticker *ticker = NULL;
    struct error err = {0};
    ck_assert_msg(ticker_start(1, count, &meeting, &ticker, &err), "%s", err.text);
    await_ticks(&meeting, 3);
    ticker_stop(ticker);
    unsigned then = meeting.ticks; /* no other thread is left */
    ck_assert_uint_ge(then, 3);
    ticker_stop(NULL);
}
END_TEST

static void *stop(void *ticker)
{
    ticker_stop(ticker);
    return NULL;
}

START_TEST(stopping_waits_for_the_tick_under_way)
{
    struct meeting meeting = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .changed = PTHREAD_COND_INITIALIZER};
    struct ticker *ticker = NULL;
    struct error err = {0};
    pthread_t stopper;
    ck_assert_msg(ticker_start(1, count, &meeting, &ticker, &err), "%s", err.text);
    await_ticks(&meeting, 1);
    ck_assert_int_eq(pthread_create(&stopper, NULL, stop, ticker), 0);
    let_end(&meeting);
    ck_assert_int_eq(pthread_join(stopper, NULL), 0);
    ck_assert(meeting.ended);
}
END_TEST

START_TEST(a_pause_rests_while_it_is_wanted_and_not_stopped)
{
    atomic_bool wanted = true;
    atomic_bool ending = false;
    struct pause pause = {&wanted, &ending};
    ck_assert(pause_is_wanted(&pause));
    ck_assert(pause_rest(&pause));
    atomic_store(&ending, true);
    ck_assert(!pause_is_wanted(&pause));
    ck_assert(!pause_rest(&pause));
    atomic_store(&ending, false);
    atomic_store(&wanted, false);
    ck_assert(!pause_rest(&pause));
    ck_assert(!pause_rest(&(struct pause){NULL, NULL}));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/base/ticker");
    TCase *tcase = tcase_create("time");
    tcase_add_test(tcase, a_ticker_ticks_until_it_is_stopped);
    tcase_add_test(tcase, stopping_waits_for_the_tick_under_way);
    tcase_add_test(tcase, a_pause_rests_while_it_is_wanted_and_not_stopped);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
