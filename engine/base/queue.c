#include "engine/base/queue.h"

#include "engine/base/arena.h"

#include <assert.h>
#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t has_thing;
    pthread_cond_t has_room;
    void **things; /* a ring */
    size_t capacity;
    size_t first;
    size_t count;
    bool closed;
};

struct queue *queue_new(size_t capacity)
{
    assert(capacity > 0);
    struct queue *queue = heap_alloc(sizeof *queue);
    queue->things = heap_alloc(capacity * sizeof(void *));
    queue->capacity = capacity;
    (void)pthread_mutex_init(&queue->lock, NULL);
    (void)pthread_cond_init(&queue->has_thing, NULL);
    (void)pthread_cond_init(&queue->has_room, NULL);
    return queue;
}

void queue_free(struct queue *queue)
{
    if (queue == NULL) {
        return;
    }
    (void)pthread_cond_destroy(&queue->has_thing);
    (void)pthread_cond_destroy(&queue->has_room);
    (void)pthread_mutex_destroy(&queue->lock);
    heap_free(queue->things);
    heap_free(queue);
}

bool queue_push(struct queue *queue, void *thing)
{
    assert(thing != NULL);
    (void)pthread_mutex_lock(&queue->lock);
    while (queue->count == queue->capacity && !queue->closed) {
        (void)pthread_cond_wait(&queue->has_room, &queue->lock);
    }
    bool open = !queue->closed;
    if (open) {
        queue->things[(queue->first + queue->count++) % queue->capacity] = thing;
        (void)pthread_cond_signal(&queue->has_thing);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return open;
}

void *queue_pop(struct queue *queue)
{
    void *thing = NULL;
    (void)pthread_mutex_lock(&queue->lock);
    while (queue->count == 0 && !queue->closed) {
        (void)pthread_cond_wait(&queue->has_thing, &queue->lock);
    }
    if (queue->count > 0) {
        thing = queue->things[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->count--;
        (void)pthread_cond_signal(&queue->has_room);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return thing;
}

void queue_close(struct queue *queue)
{
    (void)pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    (void)pthread_cond_broadcast(&queue->has_thing);
    (void)pthread_cond_broadcast(&queue->has_room);
    (void)pthread_mutex_unlock(&queue->lock);
}
