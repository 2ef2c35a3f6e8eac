/* queue — a bounded queue between threads; what is in it is the caller's. */
#ifndef ENGINE_BASE_QUEUE_H
#define ENGINE_BASE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct queue;

/* A queue that holds up to `capacity` things, at least 1; queue_free() releases it. */
struct queue *queue_new(size_t capacity);

/* No thread may use it any more; what is still in it is forgotten. NULL is fine. */
void queue_free(struct queue *queue);

/* Waits for room; false once the queue is closed, and `thing` stays with the caller. */
bool queue_push(struct queue *queue, void *thing);

/* Things in the order in which they were pushed. Waits for one; NULL once the queue is closed and
 * empty. */
void *queue_pop(struct queue *queue);

/* Nothing more comes; all who wait are woken. */
void queue_close(struct queue *queue);

#endif
