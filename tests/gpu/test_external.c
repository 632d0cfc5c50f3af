// Memory and semaphores shared by file descriptor: between two managers, and between two processes.
#include "gpu.h"

#include <kp/vulkan.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1000 };

static const kp_memory_type types[] = {KP_MEMORY_DEVICE, KP_MEMORY_HOST, KP_MEMORY_STORAGE, KP_MEMORY_DEVICE_AND_HOST};

// The test's device has the extension: kp must be able to use it. Else it must say its name.
static bool has_extension(kp_manager *mgr, const char *name) {
    kp_vulkan_manager handles;
    static VkExtensionProperties there[512];
    uint32_t count = COUNT_OF(there);
    OK(kp_vulkan_from_manager(mgr, &handles));
    PFN_vkEnumerateDeviceExtensionProperties list =
        (PFN_vkEnumerateDeviceExtensionProperties)handles.get_instance_proc_addr(
            handles.instance, "vkEnumerateDeviceExtensionProperties");
    assert_true(list(handles.physical_device, NULL, &count, there) >= 0);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(there[i].extensionName, name) == 0)
            return true;
    }
    return false;
}

static kp_tensor *shared(kp_manager *mgr, kp_memory_type type) {
    kp_tensor *t = NULL;
    OK(kp_tensor_create(
        mgr,
        &(kp_tensor_desc){
            .dtype = KP_U32, .count = COUNT, .memory_type = type, .exported = KP_HANDLE_OPAQUE_FD, .label = "shared"},
        &t));
    return t;
}

// x[i] = a * i
static kp_algorithm *ramp(kp_manager *mgr, kp_tensor *x, uint32_t a) {
    return gpu_algorithm(mgr,
                         "layout(local_size_x = 1) in;\n"
                         "layout(push_constant) uniform P { uint a; };\n"
                         "layout(binding = 0) buffer X { uint x[]; };\n"
                         "void main() { uint i = gl_GlobalInvocationID.x; x[i] = a * i; }\n",
                         &(kp_algorithm_desc){.memory = &x, .memory_count = 1, .push = &a, .push_size = sizeof a});
}

static void write_ramp(kp_manager *mgr, kp_tensor *x, uint32_t a) {
    kp_algorithm *algorithm = ramp(mgr, x, a);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_dispatch(seq, algorithm, NULL));
    OK(kp_sequence_eval(seq));
    kp_sequence_destroy(seq);
    kp_algorithm_destroy(algorithm);
}

// By way of another tensor, since a storage tensor has no host side.
static void expect_ramp(kp_manager *mgr, kp_tensor *x, uint32_t a) {
    kp_tensor *seen = NULL;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = COUNT}, &seen));
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_copy(seq, LIST(x, seen), 2));
    OK(kp_record_sync_local(seq, &seen, 1));
    OK(kp_sequence_eval(seq));
    const uint32_t *data = kp_tensor_data(seen);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (data[i] != a * i)
            fail_msg("element %u is %u, not %u", i, data[i], a * i);
    }
    kp_sequence_destroy(seq);
    kp_tensor_destroy(seen);
}

static bool can_share(kp_manager *mgr) {
    if (has_extension(mgr, "VK_KHR_external_memory_fd"))
        return true;
    kp_tensor *t = NULL;
    FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 4, .exported = KP_HANDLE_OPAQUE_FD, .label = "t"}, &t),
          KP_ERROR_UNSUPPORTED, "tensor 't': * lacks VK_KHR_external_memory_fd, which sharing memory needs");
    return false;
}

static void two_managers_have_one_memory(void **state) {
    kp_manager *mgr = *state, *other = NULL;
    if (!can_share(mgr))
        return;
    for (size_t k = 0; k < COUNT_OF(types); k++) {
        kp_tensor *x = shared(mgr, types[k]), *y = NULL;
        kp_external_memory e;
        OK(kp_manager_create(NULL, &other));
        OK(kp_tensor_export(x, &e));
        assert_true(e.fd >= 0 && e.type == KP_HANDLE_OPAQUE_FD && e.size >= COUNT * 4);
        assert_memory_equal(e.device_uuid, gpu_device(mgr).uuid, 16);
        write_ramp(mgr, x, 3);
        OK(kp_tensor_import(
            other, &e, &(kp_tensor_desc){.dtype = KP_U32, .count = COUNT, .memory_type = types[k], .label = "y"}, &y));
        close(e.fd); // the import has its own
        expect_ramp(other, y, 3);
        write_ramp(other, y, 5);
        expect_ramp(mgr, x, 5);
        kp_tensor_destroy(x); // the other side keeps the memory
        expect_ramp(other, y, 5);
        kp_manager_destroy(other);
        kp_tensor_destroy(y);
    }
}

static void the_host_sides_of_both_sync(void **state) {
    kp_manager *mgr = *state, *other = NULL;
    if (!can_share(mgr))
        return;
    kp_tensor *x = shared(mgr, KP_MEMORY_DEVICE), *y = NULL;
    kp_external_memory e;
    OK(kp_manager_create(NULL, &other));
    for (uint32_t i = 0; i < COUNT; i++)
        ((uint32_t *)kp_tensor_data(x))[i] = 7 * i;
    kp_sequence *up = gpu_sequence(mgr), *down = gpu_sequence(other);
    OK(kp_record_sync_device(up, &x, 1));
    OK(kp_sequence_eval(up));
    OK(kp_tensor_export(x, &e));
    OK(kp_tensor_import(other, &e, &(kp_tensor_desc){.dtype = KP_U32, .ndim = 2, .shape = {10, 100}}, &y));
    close(e.fd);
    OK(kp_record_sync_local(down, &y, 1));
    OK(kp_sequence_eval(down));
    assert_int_equal(((const uint32_t *)kp_tensor_data(y))[COUNT - 1], 7 * (COUNT - 1));
    ((uint32_t *)kp_tensor_data(y))[5] = 1234;
    OK(kp_record_sync_device(down, &y, 1));
    OK(kp_sequence_eval(down));
    OK(kp_record_sync_local(up, &x, 1));
    OK(kp_sequence_eval(up));
    assert_int_equal(((const uint32_t *)kp_tensor_data(x))[5], 1234);
    kp_sequence_destroy(up);
    kp_sequence_destroy(down);
    kp_tensor_destroy(x);
    kp_manager_destroy(other);
    kp_tensor_destroy(y);
}

// The descriptor of a view is that of the tensor, and says where the view lies.
static void a_view_is_exported_with_its_place(void **state) {
    kp_manager *mgr = *state;
    if (!can_share(mgr))
        return;
    kp_tensor *x = shared(mgr, KP_MEMORY_DEVICE), *part = NULL, *y = NULL;
    kp_external_memory whole, e;
    write_ramp(mgr, x, 1);
    OK(kp_tensor_view(x, &(kp_tensor_view_desc){.first = 256, .count = 16}, &part));
    OK(kp_tensor_export(x, &whole));
    OK(kp_tensor_export(part, &e));
    assert_int_equal(e.offset, whole.offset + 1024);
    assert_int_equal(e.size, whole.size);
    OK(kp_tensor_import(mgr, &e, &(kp_tensor_desc){.dtype = KP_U32, .count = 16}, &y));
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_local(seq, &y, 1));
    OK(kp_sequence_eval(seq));
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(((const uint32_t *)kp_tensor_data(y))[i], 256 + i);
    close(whole.fd);
    close(e.fd);
    kp_sequence_destroy(seq);
    kp_tensor_destroy(y);
    kp_tensor_destroy(part);
    kp_tensor_destroy(x);
}

// The child inherits the descriptor, has a manager of its own, and multiplies.
static int in_child(const kp_external_memory *e) {
    kp_manager *mgr = NULL;
    kp_tensor *x = NULL;
    if (kp_manager_create(NULL, &mgr) != KP_OK ||
        kp_tensor_import(mgr, e, &(kp_tensor_desc){.dtype = KP_U32, .count = COUNT}, &x) != KP_OK)
        return 1;
    expect_ramp(mgr, x, 9);
    write_ramp(mgr, x, 11);
    kp_manager_destroy(mgr);
    kp_tensor_destroy(x);
    return gpu_errors() == 0 ? 0 : 2;
}

// A descriptor goes from process to process through a Unix socket, beside the words.
typedef union passing {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
} passing;

static void send_memory(int to, kp_external_memory *e) {
    passing pass = {0};
    struct iovec words = {e, sizeof *e};
    struct msghdr message = {.msg_iov = &words, .msg_iovlen = 1};
    if (e->fd >= 0) {
        message.msg_control = &pass;
        message.msg_controllen = sizeof pass;
        pass.header =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&pass.header), &e->fd, sizeof(int));
    }
    assert_int_equal(sendmsg(to, &message, 0), sizeof *e);
}

static bool receive_memory(int from, kp_external_memory *e) {
    passing pass = {0};
    struct iovec words = {e, sizeof *e};
    struct msghdr message = {.msg_iov = &words, .msg_iovlen = 1, .msg_control = &pass, .msg_controllen = sizeof pass};
    if (recvmsg(from, &message, 0) != (ssize_t)sizeof *e)
        return false;
    bool passed = message.msg_controllen != 0 && pass.header.cmsg_type == SCM_RIGHTS;
    e->fd = -1;
    if (passed)
        memcpy(&e->fd, CMSG_DATA(&pass.header), sizeof(int));
    return true;
}

static void two_processes_have_one_memory(void **state) {
    int ends[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    fflush(NULL);
    pid_t child = fork(); // before there is a device
    assert_true(child >= 0);
    kp_external_memory e = {.fd = -1};
    if (child == 0)
        _exit(!receive_memory(ends[0], &e) ? 3 : e.fd >= 0 ? in_child(&e) : 0);
    kp_manager *mgr = NULL;
    kp_tensor *x = NULL;
    OK(kp_manager_create(NULL, &mgr));
    bool can = can_share(mgr);
    if (can) {
        x = shared(mgr, KP_MEMORY_DEVICE);
        write_ramp(mgr, x, 9);
        OK(kp_tensor_export(x, &e));
    }
    send_memory(ends[1], &e);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    if (can) {
        expect_ramp(mgr, x, 11);
        close(e.fd);
    }
    close(ends[0]);
    close(ends[1]);
    kp_tensor_destroy(x);
    kp_manager_destroy(mgr);
}

static void what_is_no_such_memory_is_refused(void **state) {
    kp_manager *mgr = *state;
    if (!can_share(mgr))
        return;
    const kp_tensor_desc desc = {.dtype = KP_U32, .count = COUNT, .label = "y"};
    kp_tensor *x = shared(mgr, KP_MEMORY_DEVICE), *y = NULL, *plain = gpu_floats(mgr, "plain", 4, NULL);
    kp_tensor *empty = NULL;
    kp_external_memory good, e;
    OK(kp_tensor_create(mgr, &(kp_tensor_desc){.exported = KP_HANDLE_OPAQUE_FD, .label = "empty"}, &empty));
    FAILS(kp_tensor_export(empty, &e), KP_ERROR_STATE, "tensor 'empty' is empty: it has no memory");
    FAILS(kp_tensor_export(plain, &e), KP_ERROR_STATE,
          "tensor 'plain' was not made to be exported (kp_tensor_desc.exported)");
    FAILS(kp_tensor_export(x, NULL), KP_ERROR_ARGUMENT, "kp_tensor_export: out is NULL");
    FAILS(kp_tensor_export(NULL, &e), KP_ERROR_ARGUMENT, "kp_tensor_export: tensor is NULL");
    OK(kp_tensor_export(x, &good));
    unsigned before = gpu_open_descriptors();
    e = good;
    e.device_uuid[0] ^= 1;
    FAILS(kp_tensor_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
          "tensor 'y': the memory is of the device *, the manager's is *");
    e = good;
    e.driver_uuid[3] ^= 1;
    FAILS(kp_tensor_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
          "tensor 'y': the memory is of the driver *, the manager's is *");
    e = good;
    e.fd = -1;
    FAILS(kp_tensor_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
          "tensor 'y': *: the file descriptor -1: Bad file descriptor");
    e = good;
    e.size += 1 << 20; // CPU drivers' memory is a file
    struct stat file;
    if (fstat(good.fd, &file) == 0 && S_ISREG(file.st_mode))
        FAILS(kp_tensor_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
              "tensor 'y': *: the memory is said to have * bytes, its file has *");
    e = good;
    e.memory_type = 99;
    FAILS(kp_tensor_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT, "tensor 'y': *: the memory type 99, *");
    e = good;
    e.offset = good.size / 256 * 256 - 256;
    FAILS(kp_tensor_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
          "tensor 'y': *: the buffer needs * bytes from * on, the memory has *");
    e.offset = 3;
    FAILS(kp_tensor_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT,
          "tensor 'y': *: a buffer begins at a multiple of * bytes, the offset is 3");
    e = good;
    e.type = KP_HANDLE_NONE;
    FAILS(kp_tensor_import(mgr, &e, &desc, &y), KP_ERROR_ARGUMENT, "tensor 'y': 0 is not a handle type to import from");
    FAILS(kp_tensor_import(mgr, &good, &(kp_tensor_desc){.count = 1, .data = &e}, &y), KP_ERROR_ARGUMENT,
          "tensor 'tensor': imported memory has its contents");
    FAILS(kp_tensor_import(mgr, &good, &(kp_tensor_desc){.count = 1, .exported = KP_HANDLE_OPAQUE_FD}, &y),
          KP_ERROR_ARGUMENT, "tensor 'tensor': imported memory cannot be exported again");
    FAILS(kp_tensor_import(mgr, NULL, &desc, &y), KP_ERROR_ARGUMENT, "kp_tensor_import: from is NULL");
    FAILS(kp_tensor_create(mgr, &(kp_tensor_desc){.count = 1, .exported = (kp_handle_type)9, .label = "z"}, &y),
          KP_ERROR_ARGUMENT, "tensor 'z': 9 is not a handle type");
    assert_int_equal(gpu_open_descriptors(), before); // none was kept
    OK(kp_tensor_import(mgr, &good, &desc, &y));
    kp_external_memory again;
    FAILS(kp_tensor_export(y, &again), KP_ERROR_STATE, "tensor 'y' was not made to be exported *");
    kp_tensor_destroy(y);
    assert_int_equal(gpu_open_descriptors(), before);
    FILE *other = tmpfile();
    assert_non_null(other);
    assert_int_equal(ftruncate(fileno(other), (off_t)good.size), 0);
    e = good;
    e.fd = fileno(other); // not the driver's: it may take it for its own, but nothing may break; the last test, since
                          // NVIDIA's driver takes no good one either from then on
    if (kp_tensor_import(mgr, &e, &desc, &y) == KP_OK) {
        write_ramp(mgr, y, 2);
        kp_tensor_destroy(y);
    }
    fclose(other);
    gpu_errors(); // the layer warns of the driver's answer, which the test asked for
    close(good.fd);
    kp_tensor_destroy(x);
    kp_tensor_destroy(empty);
    kp_tensor_destroy(plain);
}

static void a_dma_buf_is_shared_or_its_extension_named(void **state) {
    kp_manager *mgr = *state;
    kp_tensor *x = NULL, *y = NULL;
    kp_external_memory e;
    kp_result result = kp_tensor_create(
        mgr, &(kp_tensor_desc){.dtype = KP_U32, .count = COUNT, .exported = KP_HANDLE_DMA_BUF, .label = "x"}, &x);
    if (!has_extension(mgr, "VK_EXT_external_memory_dma_buf")) {
        FAILS(result, KP_ERROR_UNSUPPORTED,
              "tensor 'x': * lacks VK_EXT_external_memory_dma_buf, which sharing memory needs");
        return;
    }
    if (result == KP_ERROR_UNSUPPORTED) {
        FAILS(result, KP_ERROR_UNSUPPORTED,
              "tensor 'x': * has VK_EXT_external_memory_dma_buf, but cannot export buffers by it");
        return;
    }
    OK(result);
    OK(kp_tensor_export(x, &e));
    write_ramp(mgr, x, 3);
    OK(kp_tensor_import(mgr, &e, &(kp_tensor_desc){.dtype = KP_U32, .count = COUNT}, &y));
    close(e.fd);
    expect_ramp(mgr, y, 3);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
}

// ---------------------------------------------------------------------------------------------------------------------
// Semaphores
// ---------------------------------------------------------------------------------------------------------------------

// Work on one manager starts when the other's is done; nobody waits on the host in between.
static void pass_on(kp_manager *first, kp_manager *second, kp_semaphore *set, kp_semaphore *awaited, uint64_t value) {
    kp_external_memory e;
    kp_tensor *x = shared(first, KP_MEMORY_DEVICE), *y = NULL, *sum = NULL;
    OK(kp_tensor_export(x, &e));
    OK(kp_tensor_import(second, &e, &(kp_tensor_desc){.dtype = KP_U32, .count = COUNT}, &y));
    close(e.fd);
    OK(kp_tensor_create(second, &(kp_tensor_desc){.dtype = KP_U32, .count = COUNT}, &sum));
    kp_algorithm *write = ramp(first, x, 4);
    kp_sequence *a = gpu_sequence(first), *b = gpu_sequence(second);
    OK(kp_record_dispatch(a, write, NULL));
    OK(kp_record_copy(b, LIST(y, sum), 2));
    OK(kp_record_sync_local(b, &sum, 1));
    OK(kp_sequence_submit(a, &(kp_submit_desc){.signals = &(kp_semaphore_point){set, value}, .signal_count = 1}));
    OK(kp_sequence_submit(b, &(kp_submit_desc){.waits = &(kp_semaphore_point){awaited, value}, .wait_count = 1}));
    OK(kp_sequence_await(b, UINT64_MAX));
    assert_int_equal(((const uint32_t *)kp_tensor_data(sum))[COUNT - 1], 4 * (COUNT - 1));
    OK(kp_sequence_await(a, UINT64_MAX));
    kp_sequence_destroy(a);
    kp_sequence_destroy(b);
    kp_algorithm_destroy(write);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
    kp_tensor_destroy(sum);
}

static void share_semaphore(kp_manager *mgr, bool binary) {
    kp_manager *other = NULL;
    kp_semaphore *set = NULL, *awaited = NULL;
    int fd = -1;
    const kp_semaphore_desc desc = {.binary = binary, .exported = KP_HANDLE_OPAQUE_FD, .label = "s"};
    kp_result result = kp_semaphore_create(mgr, &desc, &set);
    if (!has_extension(mgr, "VK_KHR_external_semaphore_fd")) {
        FAILS(result, KP_ERROR_UNSUPPORTED,
              "semaphore 's': * lacks VK_KHR_external_semaphore_fd, which sharing one needs");
        FAILS(kp_semaphore_import(mgr, 0, &(kp_semaphore_desc){.binary = binary, .label = "s"}, &set),
              KP_ERROR_UNSUPPORTED, "semaphore 's': * lacks VK_KHR_external_semaphore_fd, which sharing one needs");
        return;
    }
    if (result == KP_ERROR_UNSUPPORTED) {
        assert_false(binary); // every driver that has the extension shares those
        FAILS(result, KP_ERROR_UNSUPPORTED,
              "semaphore 's': * has VK_KHR_external_semaphore_fd, but cannot export timeline semaphores by it");
        return;
    }
    OK(result);
    OK(kp_manager_create(NULL, &other));
    OK(kp_semaphore_export(set, &fd));
    OK(kp_semaphore_import(other, fd, &(kp_semaphore_desc){.binary = binary}, &awaited));
    close(fd);
    for (uint64_t value = 1; value < 4 && can_share(mgr); value++)
        pass_on(mgr, other, set, awaited, value);
    kp_semaphore_destroy(set);
    kp_semaphore_destroy(awaited);
    kp_manager_destroy(other);
}

static void a_timeline_orders_two_managers(void **state) { share_semaphore(*state, false); }
static void a_binary_semaphore_orders_two_managers(void **state) { share_semaphore(*state, true); }

static void a_timeline_goes_between_host_and_device(void **state) {
    kp_manager *mgr = *state;
    kp_semaphore *go = NULL, *done = NULL;
    uint64_t value = 0;
    OK(kp_semaphore_create(mgr, NULL, &go)); // both drivers have timelines
    OK(kp_semaphore_create(mgr, &(kp_semaphore_desc){.value = 10, .label = "done"}, &done));
    kp_tensor *x = gpu_floats(mgr, "x", 4, (float[]){1, 2, 3, 4});
    kp_algorithm *square = gpu_multiply(mgr, x, x, x);
    kp_sequence *seq = gpu_sequence(mgr);
    OK(kp_record_sync_device(seq, &x, 1));
    OK(kp_record_dispatch(seq, square, NULL));
    OK(kp_record_sync_local(seq, &x, 1));
    kp_semaphore_point points[] = {{go, 1}, {done, 11}};
    OK(kp_sequence_submit(
        seq, &(kp_submit_desc){.waits = &points[0], .wait_count = 1, .signals = &points[1], .signal_count = 1}));
    FAILS(kp_semaphore_wait(done, 11, 1000), KP_ERROR_TIMEOUT, "semaphore 'done' did not reach 11 within 1000 ns");
    FAILS(kp_sequence_await(seq, 1000), KP_ERROR_TIMEOUT, "*");
    OK(kp_semaphore_value(done, &value));
    assert_int_equal(value, 10);
    OK(kp_semaphore_signal(go, 1));
    OK(kp_semaphore_wait(done, 11, UINT64_MAX));
    OK(kp_semaphore_value(done, &value));
    assert_int_equal(value, 11);
    OK(kp_sequence_await(seq, UINT64_MAX));
    assert_memory_equal(kp_tensor_data(x), ((float[]){1, 4, 9, 16}), 16);
    FAILS(kp_semaphore_signal(done, 11), KP_ERROR_ARGUMENT,
          "semaphore 'done': its value is 11, which cannot become 11");
    OK(kp_sequence_clear(seq)); // nothing to do but the semaphores
    points[0].value = 2;
    points[1].value = 12;
    OK(kp_sequence_submit(
        seq, &(kp_submit_desc){.waits = &points[0], .wait_count = 1, .signals = &points[1], .signal_count = 1}));
    kp_semaphore_destroy(done); // in use: goes later
    OK(kp_semaphore_signal(go, 2));
    OK(kp_sequence_await(seq, UINT64_MAX));
    OK(kp_sequence_submit(seq, NULL));
    OK(kp_sequence_await(seq, UINT64_MAX));
    kp_sequence_destroy(seq);
    kp_semaphore_destroy(go);
    kp_algorithm_destroy(square);
    kp_tensor_destroy(x);
}

// With shared memory a sync is nothing but a wait, which stays one when others have put a barrier behind the writer.
static void a_sync_waits_for_a_writer_in_front_of_a_barrier(void **state) {
    kp_manager *mgr = *state;
    kp_semaphore *go = NULL;
    OK(kp_semaphore_create(mgr, NULL, &go));
    kp_tensor *x[2] = {gpu_floats(mgr, "x", 2, (float[]){2, 3}), gpu_floats(mgr, "y", 2, (float[]){1, 2})};
    kp_algorithm *squares[2] = {gpu_multiply(mgr, x[0], x[0], x[0]), gpu_multiply(mgr, x[1], x[1], x[1])};
    kp_sequence *seqs[5];
    for (int i = 0; i < 5; i++)
        seqs[i] = gpu_sequence(mgr);
    OK(kp_record_sync_device(seqs[0], x, 2));
    OK(kp_record_dispatch(seqs[0], squares[0], NULL));
    OK(kp_record_dispatch(seqs[1], squares[1], NULL));
    OK(kp_record_dispatch(seqs[2], squares[1], NULL));
    OK(kp_record_sync_local(seqs[3], &x[0], 1));
    OK(kp_record_sync_device(seqs[4], &x[0], 1)); // the host is not to write before that either
    OK(kp_sequence_submit(seqs[0], &(kp_submit_desc){.waits = &(kp_semaphore_point){go, 1}, .wait_count = 1}));
    for (int i = 1; i < 5; i++)
        OK(kp_sequence_eval_async(seqs[i]));
    for (int i = 0; i < 5; i++)
        FAILS(kp_sequence_await(seqs[i], 1000), KP_ERROR_TIMEOUT, "*");
    OK(kp_semaphore_signal(go, 1));
    OK(kp_sequence_await(seqs[3], UINT64_MAX));
    assert_memory_equal(kp_tensor_data(x[0]), ((float[]){4, 9}), 8);
    for (int i = 0; i < 5; i++) {
        if (i != 3)
            OK(kp_sequence_await(seqs[i], UINT64_MAX));
        kp_sequence_destroy(seqs[i]);
    }
    kp_algorithm_destroy(squares[0]);
    kp_algorithm_destroy(squares[1]);
    kp_tensor_destroy(x[0]);
    kp_tensor_destroy(x[1]);
    kp_semaphore_destroy(go);
}

// Nobody can signal a semaphore of a manager that is being destroyed: what waits for it would hold that up for ever.
static void a_wait_that_is_never_met_does_not_hold_up_the_end(void **state) {
    kp_manager *mgr = *state;
    kp_semaphore *go = NULL, *done = NULL;
    OK(kp_semaphore_create(mgr, NULL, &go));
    OK(kp_semaphore_create(mgr, NULL, &done));
    kp_tensor *x = gpu_floats(mgr, "x", 4, (float[]){1, 2, 3, 4});
    kp_sequence *first = gpu_sequence(mgr), *second = gpu_sequence(mgr);
    kp_semaphore_point points[] = {{go, 3}, {done, 1}};
    OK(kp_record_sync_device(first, &x, 1));
    OK(kp_sequence_submit(
        first, &(kp_submit_desc){.waits = &points[0], .wait_count = 1, .signals = &points[1], .signal_count = 1}));
    OK(kp_sequence_submit(second, &(kp_submit_desc){.waits = &points[1], .wait_count = 1}));
    kp_semaphore_destroy(go);
    kp_sequence_destroy(first);
    FAILS(kp_sequence_await(second, 1000), KP_ERROR_TIMEOUT, "*");
    kp_manager_destroy(mgr);
    *state = NULL;
    kp_sequence_destroy(second);
    kp_semaphore_destroy(done);
    kp_tensor_destroy(x);
}

static void wrong_semaphores_are_refused(void **state) {
    kp_manager *mgr = *state, *other = NULL;
    kp_semaphore *binary = NULL, *foreign = NULL, *s = NULL;
    uint64_t value;
    int fd;
    OK(kp_manager_create(NULL, &other));
    OK(kp_semaphore_create(mgr, &(kp_semaphore_desc){.binary = true, .label = "b"}, &binary));
    OK(kp_semaphore_create(other, &(kp_semaphore_desc){.label = "f"}, &foreign));
    FAILS(kp_semaphore_create(mgr, &(kp_semaphore_desc){.binary = true, .value = 3}, &s), KP_ERROR_ARGUMENT,
          "semaphore 'semaphore': a binary semaphore has no value, 3 was given");
    FAILS(kp_semaphore_create(mgr, &(kp_semaphore_desc){.exported = KP_HANDLE_DMA_BUF}, &s), KP_ERROR_ARGUMENT,
          "semaphore 'semaphore': semaphores are shared by OPAQUE_FD and SYNC_FD alone");
    FAILS(kp_semaphore_create(mgr, &(kp_semaphore_desc){.exported = KP_HANDLE_SYNC_FD}, &s), KP_ERROR_ARGUMENT,
          "semaphore 'semaphore': SYNC_FD is for binary semaphores, this is a timeline");
    FAILS(kp_semaphore_create(mgr, &(kp_semaphore_desc){.binary = true, .imported = KP_HANDLE_SYNC_FD}, &s),
          KP_ERROR_ARGUMENT, "semaphore 'semaphore': imported is for kp_semaphore_import");
    FAILS(kp_semaphore_value(binary, &value), KP_ERROR_TYPE, "semaphore 'b' is binary: the host cannot see it");
    FAILS(kp_semaphore_signal(binary, 1), KP_ERROR_TYPE, "semaphore 'b' is binary: the host cannot see it");
    FAILS(kp_semaphore_wait(binary, 1, 0), KP_ERROR_TYPE, "semaphore 'b' is binary: the host cannot see it");
    FAILS(kp_semaphore_export(binary, &fd), KP_ERROR_STATE, "semaphore 'b' was not made to be exported *");
    FAILS(kp_semaphore_value(NULL, &value), KP_ERROR_ARGUMENT, "kp_semaphore_value: semaphore is NULL");
    kp_sequence *seq = gpu_sequence(mgr);
    kp_semaphore_point point = {foreign, 1}, many[KP_MAX_SEMAPHORE_POINTS + 1] = {{0}};
    FAILS(kp_sequence_submit(seq, &(kp_submit_desc){.waits = &point, .wait_count = 1}), KP_ERROR_ARGUMENT,
          "sequence 'sequence': semaphore 'f' belongs to another manager");
    point.semaphore = NULL;
    FAILS(kp_sequence_submit(seq, &(kp_submit_desc){.signals = &point, .signal_count = 1}), KP_ERROR_ARGUMENT,
          "sequence 'sequence': signals[0].semaphore is NULL");
    FAILS(kp_sequence_submit(seq, &(kp_submit_desc){.signals = many, .signal_count = KP_MAX_SEMAPHORE_POINTS + 1}),
          KP_ERROR_LIMIT, "sequence 'sequence': at most 64 signals, 65 were given");
    FAILS(kp_sequence_submit(seq, &(kp_submit_desc){.signal_count = 1}), KP_ERROR_ARGUMENT,
          "sequence 'sequence': signals is NULL, but there are to be 1");
    point.semaphore = binary;
    FAILS(kp_sequence_submit(seq, &(kp_submit_desc){.waits = &point, .wait_count = 1}), KP_ERROR_STATE,
          "sequence 'sequence': the binary semaphore 'b' has no signal to wait for: submit what signals it first");
    assert_false(kp_sequence_is_running(seq));
    for (int turn = 0; turn < 2; turn++) {
        OK(kp_sequence_submit(seq, &(kp_submit_desc){.signals = &point, .signal_count = 1}));
        OK(kp_sequence_await(seq, UINT64_MAX));
        FAILS(kp_sequence_submit(seq, &(kp_submit_desc){.signals = &point, .signal_count = 1}), KP_ERROR_STATE,
              "sequence 'sequence': the binary semaphore 'b' is signalled already, and nothing has waited for that");
        OK(kp_sequence_submit(
            seq, &(kp_submit_desc){.waits = &point, .wait_count = 1, .signals = &point, .signal_count = turn == 0}));
        OK(kp_sequence_await(seq, UINT64_MAX));
        if (turn == 0) {
            OK(kp_sequence_submit(seq, &(kp_submit_desc){.waits = &point, .wait_count = 1}));
            OK(kp_sequence_await(seq, UINT64_MAX));
        }
    }
    assert_false(kp_sequence_is_running(seq));
    if (has_extension(mgr, "VK_KHR_external_semaphore_fd"))
        FAILS(kp_semaphore_import(mgr, -1, &(kp_semaphore_desc){.binary = true, .label = "i"}, &s), KP_ERROR_ARGUMENT,
              "semaphore 'i': the file descriptor -1: Bad file descriptor");
    kp_manager_destroy(other);
    FAILS(kp_semaphore_value(foreign, &value), KP_ERROR_STATE, "semaphore 'f': manager '*' is destroyed");
    kp_semaphore_destroy(foreign);
    kp_semaphore_destroy(binary);
    kp_semaphore_destroy(NULL);
    kp_sequence_destroy(seq);
}

// x becomes x + 1 on the first manager, y becomes x on the second, behind a sync file that is the first one's signal.
static void a_sync_file_is_one_signal(void **state) {
    kp_manager *mgr = *state, *other = NULL;
    kp_semaphore *set = NULL, *awaited = NULL, *done = NULL;
    const kp_semaphore_desc from = {.binary = true, .exported = KP_HANDLE_SYNC_FD, .label = "s"};
    const kp_semaphore_desc to = {.binary = true, .imported = KP_HANDLE_SYNC_FD, .label = "t"};
    kp_result result = kp_semaphore_create(mgr, &from, &set);
    int fd = -2;
    if (result != KP_OK) { // no CPU driver has them, unless a layer helps
        const char *words = has_extension(mgr, "VK_KHR_external_semaphore_fd")
                                ? "semaphore 's': * cannot export binary semaphores by SYNC_FD"
                                : "semaphore 's': * lacks VK_KHR_external_semaphore_fd, which sharing one needs";
        FAILS(result, KP_ERROR_UNSUPPORTED, words);
        result = kp_semaphore_import(mgr, -1, &to, &awaited);
        FAILS(result, KP_ERROR_UNSUPPORTED,
              has_extension(mgr, "VK_KHR_external_semaphore_fd")
                  ? "semaphore 't': * cannot import binary semaphores by SYNC_FD"
                  : "semaphore 't': * lacks VK_KHR_external_semaphore_fd, which sharing one needs");
        assert_null(getenv("KP_TEST_EXTENSIONS")); // the layer is there to help
        return;
    }
    OK(kp_manager_create(NULL, &other));
    FAILS(kp_semaphore_export(set, &fd), KP_ERROR_STATE, "semaphore 's' has no signal to export: submit *");
    kp_sequence *a = gpu_sequence(mgr), *b = gpu_sequence(other);
    kp_tensor *x = shared(mgr, KP_MEMORY_DEVICE), *y = NULL, *copy = NULL;
    kp_external_memory e;
    OK(kp_tensor_export(x, &e));
    OK(kp_tensor_import(other, &e, &(kp_tensor_desc){.dtype = KP_U32, .count = COUNT}, &y));
    close(e.fd);
    OK(kp_tensor_create(other, &(kp_tensor_desc){.dtype = KP_U32, .count = COUNT}, &copy));
    OK(kp_record_copy(b, LIST(y, copy), 2));
    OK(kp_record_sync_local(b, &copy, 1));
    unsigned before = 0;
    for (uint32_t round = 1; round < 4; round++) {
        kp_algorithm *write = ramp(mgr, x, round);
        OK(kp_record_dispatch(a, write, NULL));
        OK(kp_sequence_submit(a, &(kp_submit_desc){.signals = &(kp_semaphore_point){set, 0}, .signal_count = 1}));
        OK(kp_semaphore_export(set, &fd));
        FAILS(kp_semaphore_export(set, &(int){0}), KP_ERROR_STATE, "semaphore 's' has no signal to export: *");
        OK(kp_semaphore_import(other, fd, &to, &awaited));
        if (fd != -1)
            close(fd);
        OK(kp_sequence_submit(b, &(kp_submit_desc){.waits = &(kp_semaphore_point){awaited, 0}, .wait_count = 1}));
        OK(kp_sequence_await(b, UINT64_MAX));
        assert_int_equal(((const uint32_t *)kp_tensor_data(copy))[COUNT - 1], round * (COUNT - 1));
        OK(kp_sequence_await(a, UINT64_MAX));
        kp_semaphore_destroy(awaited);
        kp_algorithm_destroy(write);
        before = round == 1 ? gpu_open_descriptors() : before; // SwiftShader keeps one for what it compiles
    }
    assert_int_equal(gpu_open_descriptors(), before);
    OK(kp_sequence_clear(a));
    OK(kp_sequence_clear(b)); // a signal that is waited for is none to export; nor is one of an imported semaphore
    OK(kp_sequence_submit(a, &(kp_submit_desc){.signals = &(kp_semaphore_point){set, 0}, .signal_count = 1}));
    OK(kp_sequence_await(a, UINT64_MAX));
    OK(kp_sequence_submit(a, &(kp_submit_desc){.waits = &(kp_semaphore_point){set, 0}, .wait_count = 1}));
    OK(kp_sequence_await(a, UINT64_MAX));
    FAILS(kp_semaphore_export(set, &fd), KP_ERROR_STATE, "semaphore 's' has no signal to export: *");
    OK(kp_semaphore_import(other, -1, &to, &done)); // of work that is done
    FAILS(kp_semaphore_export(done, &fd), KP_ERROR_STATE, "semaphore 't' was not made to be exported *");
    kp_semaphore_point point = {done, 0};
    OK(kp_sequence_submit(b, &(kp_submit_desc){.waits = &point, .wait_count = 1}));
    OK(kp_sequence_await(b, UINT64_MAX));
    OK(kp_sequence_submit(b, &(kp_submit_desc){.signals = &point, .signal_count = 1})); // now it is like any other
    OK(kp_sequence_await(b, UINT64_MAX));
    OK(kp_sequence_submit(b, &(kp_submit_desc){.waits = &point, .wait_count = 1}));
    OK(kp_sequence_await(b, UINT64_MAX));
    FAILS(kp_semaphore_import(other, 1 << 20, &to, &awaited), KP_ERROR_ARGUMENT,
          "semaphore 't': the file descriptor 1048576: Bad file descriptor");
    kp_semaphore_destroy(set);
    kp_semaphore_destroy(done);
    kp_sequence_destroy(a);
    kp_sequence_destroy(b);
    kp_tensor_destroy(x);
    kp_tensor_destroy(y);
    kp_tensor_destroy(copy);
    kp_manager_destroy(other);
}

static void native_semaphores_take_part(void **state) {
    kp_manager *mgr = *state;
    kp_vulkan_manager handles;
    kp_semaphore *own = NULL, *adopted = NULL;
    VkSemaphore handle;
    uint64_t value = 0;
    OK(kp_vulkan_from_manager(mgr, &handles));
    OK(kp_semaphore_create(mgr, NULL, &own));
    OK(kp_vulkan_from_semaphore(own, &handle));
    OK(kp_vulkan_adopt_semaphore(mgr, handle, &(kp_semaphore_desc){.label = "adopted"}, &adopted));
    OK(kp_semaphore_signal(adopted, 5));
    OK(kp_semaphore_value(own, &value));
    assert_int_equal(value, 5);
    FAILS(kp_vulkan_adopt_semaphore(mgr, VK_NULL_HANDLE, NULL, &adopted), KP_ERROR_ARGUMENT,
          "kp_vulkan_adopt_semaphore: semaphore is VK_NULL_HANDLE");
    kp_semaphore_destroy(adopted);
    OK(kp_semaphore_value(own, &value));
    kp_manager_destroy(mgr);
    *state = NULL;
    kp_semaphore_destroy(own);
}

// An argument chooses tests by their names, in which '*' stands for any text.
int main(int argc, char **argv) {
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        GPU_BARE(two_processes_have_one_memory), // first: while there is one thread
        GPU_TEST(two_managers_have_one_memory),
        GPU_TEST(the_host_sides_of_both_sync),
        GPU_TEST(a_view_is_exported_with_its_place),
        GPU_TEST(what_is_no_such_memory_is_refused),
        GPU_TEST(a_dma_buf_is_shared_or_its_extension_named),
        GPU_TEST(a_timeline_orders_two_managers),
        GPU_TEST(a_binary_semaphore_orders_two_managers),
        GPU_TEST(a_timeline_goes_between_host_and_device),
        GPU_TEST(a_sync_waits_for_a_writer_in_front_of_a_barrier),
        GPU_TEST(a_wait_that_is_never_met_does_not_hold_up_the_end),
        GPU_TEST(wrong_semaphores_are_refused),
        GPU_TEST(a_sync_file_is_one_signal),
        GPU_TEST(native_semaphores_take_part),
    };
    return gpu_run("external", tests);
}
