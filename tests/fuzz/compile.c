// Any text into kp_compile. What it accepts must be a module that the validator accepts and reflection understands;
// what it refuses must come with a position inside the text.
#include "runtime/reflect.h"
#include "runtime/validate.h"

#include <kp/compiler.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "%s: %s\n", what, kp_last_error());
    abort();
}

static void check_program(const kp_program *program) {
    const kp_validate_desc validate = {
        .words = program->words, .word_count = program->word_count, .api_version = 1u << 22 | 1u << 12};
    require(kp_validate_module(&validate) == KP_OK, "compiled to an invalid module");
    kp_reflect *r;
    const kp_reflect_desc reflect = {.bytes = program->words, .size = program->word_count * 4};
    require(kp_reflect_create(&reflect, &r) == KP_OK, "compiled to a module that cannot be read");
    require(r->push_size <= (program->push_size + 3) / 4 * 4,
            "the module's push constants are larger than the program says");
    kp_reflect_destroy(r);
}

// A line ends as it does in Python: with \n, \r\n, or \r alone.
static uint32_t count_lines(const char *text) {
    uint32_t lines = 1;
    for (; *text != '\0'; text++)
        lines += *text == '\n' || (*text == '\r' && text[1] != '\n');
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *source = malloc(size + 1);
    if (source == NULL)
        return 0;
    memcpy(source, data, size);
    source[size] = '\0';
    kp_program *program;
    kp_result result = kp_compile(source, NULL, &program);
    if (result == KP_OK) {
        check_program(program);
        kp_program_destroy(program);
    } else {
        require(result == KP_ERROR_COMPILE, "neither compiled nor refused");
        require(kp_last_diagnostic()->line <= count_lines(source) + 1, "the position is behind the text");
        require(kp_last_diagnostic()->message[0] != '\0', "refused without a word");
    }
    free(source);
    return 0;
}
