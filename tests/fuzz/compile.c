// Any text into kp_compile, plain and checked. What it accepts must be a module that the validator accepts and
// reflection understands, in both forms, also as lavapipe gets it, and which can be shown as text; what it refuses must
// come with a position inside the text.
#include "base/alloc.h"
#include "runtime/known_zeros.h"
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

// The stages as text, whatever comes of them.
static void dump(const char *source, const kp_compile_desc *desc) {
    for (kp_dump stage = KP_DUMP_TOKENS; stage <= KP_DUMP_TYPES; stage++) {
        char *text = NULL;
        if (kp_compile_dump(source, desc, stage, &text) == KP_OK)
            kp_free(text);
    }
    (void)kp_compile_check(source, desc);
    char *names = NULL;
    if (kp_compile_list(source, desc, &names) == KP_OK)
        kp_free(names);
}

// Bytes of push constants: the caller's, and the shapes of views.
static uint32_t push_size(const kp_program *program) {
    uint32_t size = (program->push_size + 3) / 4 * 4;
    for (size_t i = 0; i < program->param_count; i++) {
        const kp_param *param = &program->params[i];
        if (param->ndim > 1 && param->shape_offset + 4 * param->ndim > size)
            size = param->shape_offset + 4 * param->ndim;
    }
    return size;
}

static bool is_valid(const uint32_t *words, size_t count) {
    return kp_validate_module(
               &(kp_validate_desc){.words = words, .word_count = count, .api_version = 1u << 22 | 1u << 12}) == KP_OK;
}

static void check_program(const kp_program *program) {
    uint32_t *hidden;
    size_t count;
    require(is_valid(program->words, program->word_count), "compiled to an invalid module");
    require(kp_known_zeros_apply(program->words, program->word_count, &hidden, &count) == KP_OK, "not rewritten");
    require(hidden == NULL || is_valid(hidden, count), "made an invalid module");
    kp_alloc_free(hidden);
    kp_reflect *r;
    const kp_reflect_desc reflect = {.bytes = program->words, .size = program->word_count * 4};
    require(kp_reflect_create(&reflect, &r) == KP_OK, "compiled to a module that cannot be read");
    require(r->push_size <= push_size(program), "the module's push constants are larger than the program says");
    kp_reflect_destroy(r);
    char *text;
    require(kp_disassemble(program->words, program->word_count, &text) == KP_OK, "compiled to what cannot be shown");
    kp_free(text);
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
    kp_compile_desc desc = {.checked = size % 2 != 0};
    kp_result result = kp_compile(source, &desc, &program);
    if (result == KP_OK) {
        require(kp_compile_check(source, &desc) == KP_OK, "a good kernel is found to be wrong");
        check_program(program);
        kp_program_destroy(program);
        desc.checked = !desc.checked;
        require(kp_compile(source, &desc, &program) == KP_OK, "good when checked, or when not, alone");
        check_program(program);
        kp_program_destroy(program);
        dump(source, &desc);
    } else {
        require(result == KP_ERROR_COMPILE, "neither compiled nor refused");
        require(kp_last_diagnostic()->line <= count_lines(source) + 1, "the position is behind the text");
        require(kp_last_diagnostic()->message[0] != '\0', "refused without a word");
    }
    free(source);
    return 0;
}
