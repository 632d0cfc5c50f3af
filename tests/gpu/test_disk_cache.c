// The pipeline cache on disk: written, read, shared, and harmless whatever lies in its place.
#include "gpu.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[512], path[1024];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char said[8192]; // what the log has of the cache

static void on_log(void *payload, kp_log_level level, const char *message) {
    (void)payload;
    pthread_mutex_lock(&lock);
    size_t used = strlen(said);
    if (strstr(message, "pipeline cache") != NULL || level >= KP_LOG_ERROR)
        snprintf(said + used, sizeof said - used, "%d %s\n", (int)level, message);
    pthread_mutex_unlock(&lock);
}

static void multiply(void) {
    kp_manager *mgr = NULL;
    OK(kp_manager_create(NULL, &mgr));
    const float twos[] = {2, 3};
    kp_tensor *a = gpu_floats(mgr, "a", 2, twos), *b = gpu_floats(mgr, "b", 2, twos);
    kp_tensor *out = gpu_floats(mgr, "out", 2, NULL);
    kp_algorithm *algorithm = gpu_multiply(mgr, a, b, out);
    gpu_once(mgr, algorithm, LIST(a, b, out), 3, NULL);
    assert_true(((const float *)kp_tensor_data(out))[1] == 9.0f);
    kp_algorithm_destroy(algorithm);
    kp_tensor_destroy(a);
    kp_tensor_destroy(b);
    kp_tensor_destroy(out);
    kp_manager_destroy(mgr);
}

// Runs a program, and looks at what it said of the cache.
static void expect(const char *words) {
    said[0] = '\0';
    multiply();
    if (!gpu_matches(said, words))
        fail_msg("the log has:\n%s\nnot: %s", said, words);
}

static unsigned count_files(void) {
    DIR *dir = opendir(folder);
    unsigned count = 0;
    if (dir == NULL)
        return 0;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (strstr(entry->d_name, ".pipelines") == NULL)
            continue;
        snprintf(path, sizeof path, "%.511s/%.200s", folder, entry->d_name);
        count++;
    }
    closedir(dir);
    return count;
}

static void remove_file(void) {
    if (count_files() != 0)
        unlink(path);
}

static int open_folder(void **state) {
    (void)state;
    if (getcwd(folder, sizeof folder - 32) == NULL)
        return -1;
    memcpy(folder + strlen(folder), "/cache_XXXXXX", sizeof "/cache_XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

// A folder with all that is in it.
static void remove_all(const char *name) {
    DIR *dir = opendir(name);
    for (struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL; entry = readdir(dir)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char inner[2048];
        snprintf(inner, sizeof inner, "%.1500s/%.255s", name, entry->d_name);
        remove_all(inner);
    }
    if (dir != NULL)
        closedir(dir);
    remove(name);
}

static int close_folder(void **state) {
    (void)state;
    remove_all(folder);
    return access(folder, F_OK) != 0 ? 0 : -1;
}

static int set_up(void **state) {
    gpu_bare(state);
    kp_set_log(on_log, NULL, KP_LOG_DEBUG);
    remove_file();
    return setenv("KP_CACHE_DIR", folder, 1);
}

static int tear_down(void **state) {
    setenv("KP_CACHE_DIR", "", 1);
    return gpu_close(state);
}
#define CACHE_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

static void what_one_process_wrote_the_next_one_reads(void **state) {
    (void)state;
    expect("10 pipeline cache: wrote *\n");
    assert_int_equal(count_files(), 1);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    expect("10 pipeline cache: read *"); // and there is nothing new to write
    assert_null(strstr(said, "wrote"));
}

static void an_empty_variable_switches_it_off(void **state) {
    (void)state;
    setenv("KP_CACHE_DIR", "", 1);
    expect("");
    assert_int_equal(count_files(), 0);
}

static void the_default_is_the_users_folder_for_caches(void **state) {
    (void)state;
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *old_xdg = xdg != NULL ? strdup(xdg) : NULL, *old_home = home != NULL ? strdup(home) : NULL;
    unsetenv("KP_CACHE_DIR");
    setenv("XDG_CACHE_HOME", folder, 1); // drivers and layers use it too
    expect("10 pipeline cache: wrote */kp/*.pipelines\n");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    expect(""); // nowhere to put it
    if (old_xdg != NULL)
        setenv("XDG_CACHE_HOME", old_xdg, 1);
    if (old_home != NULL)
        setenv("HOME", old_home, 1);
    free(old_xdg);
    free(old_home);
}

static size_t read_file(unsigned char *bytes, size_t room) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

static void write_file(const unsigned char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

// A file that is no good is not used, and a good one takes its place.
static void a_bad_file_is_replaced(void **state) {
    (void)state;
    static unsigned char good[1 << 20], bad[1 << 20];
    multiply();
    assert_int_equal(count_files(), 1);
    size_t size = read_file(good, sizeof good);
    assert_in_range(size, 80, sizeof good - 100);
    const struct {
        const char *why;
        size_t size, flipped;
    } cases[] = {
        {"too short or too long", 0, 0},
        {"too short or too long", 40, 0},
        {"cut short", size - 1, 0},
        {"cut short", size + 9, 0},
        {"not a pipeline cache of kp's", size, 1},
        {"of another device or driver", size, 9},          // device UUID
        {"of another device or driver", size, 8 + 32 + 9}, // driver version
        {"damaged", size, size},
        {"damaged", size, size - 20},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        memset(bad, 0, sizeof bad);
        memcpy(bad, good, size);
        if (cases[i].flipped != 0)
            bad[cases[i].flipped - 1] ^= 0x40;
        write_file(bad, cases[i].size);
        char words[256];
        snprintf(words, sizeof words, "30 pipeline cache: not used: *: %s\n*10 pipeline cache: wrote *", cases[i].why);
        expect(words);
        assert_int_equal(count_files(), 1);
        expect("10 pipeline cache: read *");
    }
}

static void random_bytes_in_its_place_are_harmless(void **state) {
    (void)state;
    static unsigned char bytes[4096];
    uint64_t random = 88172645463325252u;
    multiply();
    assert_int_equal(count_files(), 1);
    for (unsigned round = 0; round < 8; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            bytes[i] = (unsigned char)random;
        }
        write_file(bytes, sizeof bytes);
        expect("30 pipeline cache: not used: *: not a pipeline cache of kp's\n*");
    }
}

static void a_place_that_cannot_be_written_is_a_warning(void **state) {
    (void)state;
    multiply();
    assert_int_equal(count_files(), 1);
    setenv("KP_CACHE_DIR", path, 1); // a file is no folder
    expect("30 pipeline cache: cannot open *\n*30 pipeline cache: cannot write *");
    setenv("KP_CACHE_DIR", "/proc/kp", 1);
    expect("30 pipeline cache: cannot write /proc/kp/*");
    setenv("KP_CACHE_DIR", folder, 1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0); // a folder is no file
    expect("30 pipeline cache: not used: *: cannot be read\n*30 pipeline cache: cannot write *");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(count_files(), 0); // and nothing is left lying about
}

static void *many(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < 6; i++)
        multiply();
    return NULL;
}

static void it_is_shared(void **state) {
    (void)state;
    pthread_t threads[4];
    said[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, many, NULL), 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_join(threads[i], NULL);
    assert_null(strstr(said, "not used"));
    assert_int_equal(count_files(), 1);
    expect("10 pipeline cache: read *");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CACHE_TEST(what_one_process_wrote_the_next_one_reads),
        CACHE_TEST(an_empty_variable_switches_it_off),
        CACHE_TEST(the_default_is_the_users_folder_for_caches),
        CACHE_TEST(a_bad_file_is_replaced),
        CACHE_TEST(random_bytes_in_its_place_are_harmless),
        CACHE_TEST(a_place_that_cannot_be_written_is_a_warning),
        CACHE_TEST(it_is_shared),
    };
    return cmocka_run_group_tests_name("gpu.disk_cache", tests, open_folder, close_folder);
}
