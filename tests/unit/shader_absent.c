// kp_shader_compile where there is no shaderc: built without its headers, or run without its library. Twice in
// CMakeLists.txt.
#include "test.h"

#include <kp/shader.h>

static void test_says_how_to_get_it(void **state) {
    (void)state;
    static const char text[] = "#version 450\n";
    kp_program *p = NULL;
    assert_fails_like(kp_shader_compile(text, strlen(text), &(kp_shader_desc){.file = "s.comp"}, &p),
                      KP_ERROR_UNSUPPORTED, KP_UNIT_MESSAGE);
    assert_fails_like(kp_shader_compile(text, strlen(text), &(kp_shader_desc){.file = "s.comp"}, &p),
                      KP_ERROR_UNSUPPORTED,
                      KP_UNIT_MESSAGE); // and again
    assert_null(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_says_how_to_get_it)};
    return cmocka_run_group_tests_name("shader_absent", tests, NULL, NULL);
}
