// See log.h. The callback, its payload and its level change together: they live behind a lock that is never held during
// the call itself. The level is mirrored in an atomic so that a silent log costs nothing.
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kp_log_fn callback;
static void *callback_payload;
static atomic_int threshold = KP_LOG_NONE;

void kp_set_log(kp_log_fn fn, void *payload, kp_log_level level) {
    pthread_mutex_lock(&lock);
    callback = fn;
    callback_payload = payload;
    atomic_store(&threshold, fn != NULL ? (int)level : (int)KP_LOG_NONE);
    pthread_mutex_unlock(&lock);
}

bool kp_log_wants(kp_log_level level) { return (int)level >= atomic_load_explicit(&threshold, memory_order_relaxed); }

void kp_log_write(kp_log_level level, const char *format, ...) {
    if (!kp_log_wants(level))
        return;
    pthread_mutex_lock(&lock);
    kp_log_fn fn = callback;
    void *payload = callback_payload;
    pthread_mutex_unlock(&lock);
    if (fn == NULL)
        return;
    char text[2048];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0)
        return;
    kp_error_make_line(text);
    fn(payload, level, text);
}
