// See ext.h. The GIL guards the counts. A call that runs kp without the GIL, or code of the user's, is counted in
// `active`, so that destroy() from in there or from another thread waits for it without blocking anybody: the handle is
// gone for new calls at once, and whoever leaves last ends the manager.
#include "objects.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static unsigned long process;

// Who is in the library without the GIL. Behind the end of the interpreter the process runs the exit handlers of
// drivers and layers, which a thread that is in a call would not survive. Only daemon threads are left by then. They
// are waited for, and one that wants to go in stays where it is, as CPython does with those that ask for the GIL.
static struct {
    pthread_mutex_t lock;
    pthread_cond_t none;
    size_t inside;
    bool closed;
    pthread_t closer;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .none = PTHREAD_COND_INITIALIZER};

static void count_fork(void) {
    process++;
    pthread_mutex_init(&gate.lock, NULL); // another thread may have had it
    pthread_cond_init(&gate.none, NULL);
    gate.inside = 0; // the other threads are not here
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

unsigned long ext_core_process(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    return process;
}

bool ext_core_foreign(unsigned long made_in) { return made_in != process; }

ext_core *ext_core_new(kp_manager *handle) {
    ext_core *core = malloc(sizeof *core);
    if (core == NULL) {
        kp_manager_destroy(handle);
        PyErr_NoMemory();
        return NULL;
    }
    *core = (ext_core){.references = 1, .handle = handle, .process = ext_core_process()};
    return core;
}

ext_core *ext_core_hold(ext_core *core) {
    core->references++;
    return core;
}

void ext_core_drop(ext_core *core) {
    if (core == NULL || --core->references > 0)
        return;
    core->references = 1; // what is dropped below may hold it and drop it again
    ext_core_destroy(core);
    free(core);
}

kp_manager *ext_core_use(kp_ext *ext, const ext_core *core) {
    if (ext_core_foreign(core->process)) {
        ext_error_format(ext, KP_ERROR_STATE,
                         "this manager was made before a fork, which Vulkan does not survive; fork before the first "
                         "manager, or start processes by multiprocessing's 'spawn'");
        return NULL;
    }
    if (core->handle == NULL)
        ext_error_format(ext, KP_ERROR_STATE, "the manager is destroyed");
    return core->handle;
}

bool ext_core_usable(const ext_core *core) { return core->handle != NULL && !ext_core_foreign(core->process); }

void ext_core_release(ext_core *core, void (*destroy)(void *handle), void *handle) {
    if (handle == NULL || ext_core_foreign(core->process))
        return;
    if (!core->ending) {
        destroy(handle);
        return;
    }
    ext_late *late = malloc(sizeof *late);
    if (late == NULL)
        return; // it leaks: nothing better can be done about a handle without memory
    *late = (ext_late){core->late, destroy, handle};
    core->late = late;
}

// Waiting for the device, without the GIL. Nothing else of this manager may be called meanwhile: what is dropped by
// other threads is destroyed afterwards. The caller keeps `core` alive.
static void end(ext_core *core, kp_manager *handle) {
    core->ending = true;
    PyThreadState *thread = ext_core_go();
    kp_manager_destroy(handle);
    ext_core_come(thread);
    core->ending = false;
    while (core->late != NULL) {
        ext_late *late = core->late;
        core->late = late->next;
        late->destroy(late->handle);
        free(late);
    }
}

void ext_core_destroy(ext_core *core) {
    kp_manager *handle = core->handle;
    core->handle = NULL;
    if (core->active == 0) {
        ext_anonymous_clear(core);
        ext_spares_clear(core);
    }
    if (handle == NULL || ext_core_foreign(core->process))
        return;
    if (core->active > 0)
        core->dying = handle;
    else
        end(core, handle);
}

void ext_core_pin(ext_core *core) {
    core->active++;
    core->references++;
}

void ext_core_unpin(ext_core *core) {
    core->active--;
    if (core->active == 0 && core->dying != NULL) {
        kp_manager *handle = core->dying;
        core->dying = NULL;
        end(core, handle); // the slots go with the core: the caller may be using one
    }
    ext_core_drop(core);
}

PyThreadState *ext_core_enter(ext_core *core) {
    ext_core_pin(core);
    return ext_core_go();
}

void ext_core_leave(ext_core *core, PyThreadState *thread) {
    ext_core_come(thread);
    ext_core_unpin(core);
}

enum { SLICE = 100000000 }; // nanoseconds between looks at signals

uint64_t ext_core_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static kp_result wait_slice(ext_core_slice wait, void *payload, uint64_t timeout) {
    PyThreadState *thread = ext_core_go();
    kp_result result = wait(payload, timeout < SLICE ? timeout : SLICE);
    ext_core_come(thread);
    return result;
}

static int wait_pinned(kp_ext *ext, ext_core_slice wait, void *payload, uint64_t timeout) {
    kp_result result = wait_slice(wait, payload, timeout);
    if (result != KP_ERROR_TIMEOUT || timeout <= SLICE)
        return ext_error_check(ext, result);
    uint64_t start = ext_core_now() - SLICE;
    while (result == KP_ERROR_TIMEOUT) {
        if (PyErr_CheckSignals() < 0)
            return -1;
        uint64_t spent = ext_core_now() - start;
        if (timeout != UINT64_MAX && spent >= timeout) {
            ext_error_format(ext, result, "the work was not done within %llu ns", (unsigned long long)timeout);
            return -1;
        }
        result = wait_slice(wait, payload, timeout != UINT64_MAX ? timeout - spent : timeout);
    }
    return ext_error_check(ext, result);
}

int ext_core_wait(kp_ext *ext, ext_core *core, ext_core_slice wait, void *payload, uint64_t timeout) {
    ext_core_pin(core);
    int result = wait_pinned(ext, wait, payload, timeout);
    ext_core_unpin(core);
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// The end of the interpreter
// ---------------------------------------------------------------------------------------------------------------------

enum { PATIENCE = 10 }; // seconds for work in flight at exit

PyThreadState *ext_core_go(void) {
    PyThreadState *thread = PyEval_SaveThread();
    pthread_mutex_lock(&gate.lock);
    while (gate.closed && !pthread_equal(gate.closer, pthread_self()))
        pthread_cond_wait(&gate.none, &gate.lock);
    gate.inside++;
    pthread_mutex_unlock(&gate.lock);
    return thread;
}

void ext_core_come(PyThreadState *thread) {
    pthread_mutex_lock(&gate.lock);
    if (--gate.inside == 0)
        pthread_cond_broadcast(&gate.none);
    pthread_mutex_unlock(&gate.lock);
    PyEval_RestoreThread(thread);
}

void ext_core_close(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE;
    PyThreadState *thread = PyEval_SaveThread();
    pthread_mutex_lock(&gate.lock);
    gate.closed = true;
    gate.closer = pthread_self();
    while (gate.inside != 0 && pthread_cond_timedwait(&gate.none, &gate.lock, &until) == 0)
        continue;
    pthread_mutex_unlock(&gate.lock);
    PyEval_RestoreThread(thread);
}
