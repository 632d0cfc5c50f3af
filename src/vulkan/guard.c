// See guard.h. The kept messages are a list per thread, newest first, turned round before it is written.
#include "guard.h"

#include "base/alloc.h"

typedef struct kept {
    struct kept *older;
    kp_log_level level;
    char *text;
} kept;

static _Thread_local unsigned depth;
static _Thread_local kept *newest;

void kp_guard_lock(pthread_mutex_t *lock) {
    pthread_mutex_lock(lock);
    depth++;
}

static void write_kept(void) {
    kept *oldest = NULL;
    while (newest != NULL) {
        kept *next = newest->older;
        newest->older = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest != NULL) {
        kept *next = oldest->older;
        kp_log_write(oldest->level, "%s", oldest->text);
        kp_alloc_free(oldest->text);
        kp_alloc_free(oldest);
        oldest = next;
    }
}

static void leave(void) {
    depth--;
    if (depth == 0 && newest != NULL)
        write_kept();
}

void kp_guard_unlock(pthread_mutex_t *lock) {
    pthread_mutex_unlock(lock);
    leave();
}

void kp_guard_read(pthread_rwlock_t *lock) {
    pthread_rwlock_rdlock(lock);
    depth++;
}

void kp_guard_write(pthread_rwlock_t *lock) {
    pthread_rwlock_wrlock(lock);
    depth++;
}

void kp_guard_leave(pthread_rwlock_t *lock) {
    pthread_rwlock_unlock(lock);
    leave();
}

void kp_guard_log(kp_log_level level, const char *text) {
    if (!kp_log_wants(level))
        return;
    if (depth == 0) {
        kp_log_write(level, "%s", text);
        return;
    }
    kept *message = kp_alloc_new(sizeof *message);
    char *copy = kp_alloc_text(text);
    if (message == NULL || copy == NULL) { // better late than never does not hold without memory: it is lost
        kp_alloc_free(message);
        kp_alloc_free(copy);
        return;
    }
    *message = (kept){.older = newest, .level = level, .text = copy};
    newest = message;
}
