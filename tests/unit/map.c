// base/map against a model: a plain list that is searched from end to end.
#include "test.h"

#include "base/alloc.h"
#include "base/map.h"

enum { KEYS = 300 };

// Keys of 0 to 19 bytes, some of them prefixes of others, with zero bytes inside.
static size_t make_key(uint32_t n, unsigned char key[20]) {
    size_t size = n % 20;
    memset(key, 0, 20);
    key[0] = (unsigned char)(n / 20);
    key[size / 2] ^= (unsigned char)(n / 20 * 7);
    return size;
}

typedef struct model {
    struct {
        unsigned char key[20];
        size_t size;
        void *value;
    } rows[KEYS];
    size_t count;
} model;

static size_t find(const model *m, const unsigned char *key, size_t size) {
    size_t k = 0;
    while (k < m->count && (m->rows[k].size != size || memcmp(m->rows[k].key, key, size) != 0))
        k++;
    return k;
}

static void *model_get(const model *m, const unsigned char *key, size_t size) {
    size_t k = find(m, key, size);
    return k < m->count ? m->rows[k].value : NULL;
}

static void model_set(model *m, const unsigned char *key, size_t size, void *value) {
    size_t k = find(m, key, size);
    memcpy(m->rows[k].key, key, 20);
    m->rows[k].size = size;
    m->rows[k].value = value;
    m->count += k == m->count;
}

static void *model_remove(model *m, const unsigned char *key, size_t size) {
    size_t k = find(m, key, size);
    if (k == m->count)
        return NULL;
    void *value = m->rows[k].value;
    m->rows[k] = m->rows[--m->count];
    return value;
}

static void assert_same(const kp_map *map, const model *m) {
    assert_int_equal(map->count, m->count);
    size_t seen = 0;
    for (const kp_map_entry *e = kp_map_next(map, NULL); e != NULL; e = kp_map_next(map, e)) {
        assert_ptr_equal(e->value, model_get(m, e->key, e->key_size));
        seen++;
    }
    assert_int_equal(seen, m->count);
    for (size_t k = 0; k < m->count; k++)
        assert_ptr_equal(kp_map_get(map, m->rows[k].key, m->rows[k].size), m->rows[k].value);
}

static void test_random_operations(void **state) {
    (void)state;
    static char values[64];
    test_random random = {42};
    for (int round = 0; round < 20; round++) {
        kp_map map = {0};
        static model m;
        m.count = 0;
        uint32_t keys = 1 + test_below(&random, KEYS);
        for (int step = 0; step < 2000; step++) {
            unsigned char key[20];
            size_t size = make_key(test_below(&random, keys), key);
            void *value = &values[test_below(&random, sizeof values)];
            switch (test_below(&random, 4)) {
            case 0:
            case 1:
                assert_true(kp_map_set(&map, key, size, value));
                model_set(&m, key, size, value);
                break;
            case 2:
                assert_ptr_equal(kp_map_remove(&map, key, size), model_remove(&m, key, size));
                break;
            default:
                assert_ptr_equal(kp_map_get(&map, key, size), model_get(&m, key, size));
            }
            if (step % 100 == 0)
                assert_same(&map, &m);
        }
        assert_same(&map, &m);
        kp_map_free(&map);
    }
}

static void test_an_empty_map(void **state) {
    (void)state;
    kp_map map = {0};
    assert_null(kp_map_get(&map, "a", 1));
    assert_null(kp_map_remove(&map, "a", 1));
    assert_null(kp_map_next(&map, NULL));
    kp_map_free(&map);
}

static void test_keys_are_copied(void **state) {
    (void)state;
    kp_map map = {0};
    char key[] = "key";
    int value = 0;
    assert_true(kp_map_set(&map, key, 3, &value));
    key[0] = 'x';
    assert_ptr_equal(kp_map_get(&map, "key", 3), &value);
    assert_null(kp_map_get(&map, "xey", 3));
    kp_map_free(&map);
    assert_int_equal(map.count, 0);
}

static void test_a_thousand_keys_survive_growth(void **state) {
    (void)state;
    static int values[1000];
    kp_map map = {0};
    for (uint32_t k = 0; k < 1000; k++)
        assert_true(kp_map_set(&map, &k, sizeof k, &values[k]));
    for (uint32_t k = 0; k < 1000; k++)
        assert_ptr_equal(kp_map_get(&map, &k, sizeof k), &values[k]);
    for (uint32_t k = 0; k < 1000; k += 2)
        assert_ptr_equal(kp_map_remove(&map, &k, sizeof k), &values[k]);
    for (uint32_t k = 0; k < 1000; k++)
        assert_ptr_equal(kp_map_get(&map, &k, sizeof k), k % 2 == 0 ? NULL : &values[k]);
    assert_true(map.count * 4 <= map.capacity * 3);
    kp_map_free(&map);
}

static void test_out_of_memory_leaves_the_map_unchanged(void **state) {
    (void)state;
    int value = 0;
    kp_map map = {0};
    kp_alloc_fail_at(1); // the slots
    assert_false(kp_map_set(&map, "a", 1, &value));
    kp_alloc_fail_at(2); // the key
    assert_false(kp_map_set(&map, "a", 1, &value));
    assert_int_equal(map.count, 0);
    assert_null(kp_map_get(&map, "a", 1));
    for (uint32_t k = 0; k < 12; k++)
        assert_true(kp_map_set(&map, &k, sizeof k, &value));
    kp_alloc_fail_at(1); // growth
    assert_false(kp_map_set(&map, "b", 1, &value));
    assert_int_equal(map.count, 12);
    assert_null(kp_map_get(&map, "b", 1));
    for (uint32_t k = 0; k < 12; k++)
        assert_ptr_equal(kp_map_get(&map, &k, sizeof k), &value);
    kp_map_free(&map);
}

static void test_hash_is_fnv1a(void **state) {
    (void)state;
    assert_true(kp_map_hash("", 0) == 0xcbf29ce484222325u);
    assert_true(kp_map_hash("a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(kp_map_hash("foobar", 6) == 0x85944171f73967e8u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_operations),
        cmocka_unit_test(test_an_empty_map),
        cmocka_unit_test(test_keys_are_copied),
        cmocka_unit_test(test_a_thousand_keys_survive_growth),
        cmocka_unit_test(test_out_of_memory_leaves_the_map_unchanged),
        cmocka_unit_test(test_hash_is_fnv1a),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
