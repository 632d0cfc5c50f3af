// Element types: sizes and names, both ways.
#include "test.h"

static void test_sizes(void **state) {
    (void)state;
    static const struct {
        kp_dtype dtype;
        size_t size;
        const char *lang, *numpy;
    } rows[] = {
        {KP_F32, sizeof(float), "f32", "float32"},
        {KP_F64, sizeof(double), "f64", "float64"},
        {KP_F16, 2, "f16", "float16"},
        {KP_I8, 1, "i8", "int8"},
        {KP_I16, 2, "i16", "int16"},
        {KP_I32, 4, "i32", "int32"},
        {KP_I64, 8, "i64", "int64"},
        {KP_U8, 1, "u8", "uint8"},
        {KP_U16, 2, "u16", "uint16"},
        {KP_U32, 4, "u32", "uint32"},
        {KP_U64, 8, "u64", "uint64"},
        {KP_BOOL, 1, "bool", "bool"},
    };
    assert_int_equal(COUNT_OF(rows), KP_DTYPE_COUNT);
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        kp_dtype found = KP_DTYPE_COUNT;
        assert_int_equal(kp_dtype_size(rows[k].dtype), rows[k].size);
        assert_string_equal(kp_dtype_name(rows[k].dtype), rows[k].lang);
        assert_ok(kp_dtype_find(rows[k].lang, &found));
        assert_int_equal(found, rows[k].dtype);
        found = KP_DTYPE_COUNT;
        assert_ok(kp_dtype_find(rows[k].numpy, &found));
        assert_int_equal(found, rows[k].dtype);
    }
}

static void test_zero_is_float32(void **state) {
    (void)state;
    assert_int_equal(KP_F32, 0);
}

static void test_values_that_are_no_dtype(void **state) {
    (void)state;
    const int others[] = {KP_DTYPE_COUNT, -1, 1000, INT32_MIN};
    for (size_t k = 0; k < COUNT_OF(others); k++) {
        kp_dtype dtype;
        memcpy(&dtype, &others[k], sizeof dtype);
        assert_int_equal(kp_dtype_size(dtype), 0);
        assert_string_equal(kp_dtype_name(dtype), "?");
    }
}

static void test_names_that_are_no_dtype(void **state) {
    (void)state;
    kp_dtype out = KP_I8;
    assert_fails(kp_dtype_find("float", &out), KP_ERROR_TYPE, "no element type is called 'float'");
    assert_fails(kp_dtype_find("", &out), KP_ERROR_TYPE, "no element type is called ''");
    assert_fails(kp_dtype_find("F32", &out), KP_ERROR_TYPE, "no element type is called 'F32'");
    assert_fails(kp_dtype_find(NULL, &out), KP_ERROR_ARGUMENT, "kp_dtype_find: name is NULL");
    assert_fails(kp_dtype_find("f32", NULL), KP_ERROR_ARGUMENT, "kp_dtype_find: out is NULL");
    assert_int_equal(out, KP_I8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_zero_is_float32),
        cmocka_unit_test(test_values_that_are_no_dtype),
        cmocka_unit_test(test_names_that_are_no_dtype),
    };
    return cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
}
