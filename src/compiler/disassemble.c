// SPIR-V as text, for people: SPIRV-Tools writes it, with the names that the module has.
#include "base/alloc.h"
#include "base/error.h"

#include <kp/compiler.h>

// The header defines a constant in every C file that includes it, and src/runtime/validate.c does too.
#define kDefaultMaxIdBound kp_disassemble_id_bound
#include <spirv-tools/libspirv.h>

enum { MAGIC = 0x07230203, HEADER_WORDS = 5, VERSION_WORD = 1 };

// The oldest environment that has the module's version: the text is the same in all.
static spv_target_env environment(uint32_t version) {
    return version > 0x00010500u   ? SPV_ENV_UNIVERSAL_1_6
           : version > 0x00010300u ? SPV_ENV_UNIVERSAL_1_5
                                   : SPV_ENV_UNIVERSAL_1_3;
}

static kp_result write_text(spv_const_context context, const uint32_t *words, size_t word_count, char **out) {
    const uint32_t how = SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES;
    spv_text text = NULL;
    spv_diagnostic diagnostic = NULL;
    kp_result result = KP_OK;
    if (spvBinaryToText(context, words, word_count, how, &text, &diagnostic) != SPV_SUCCESS) {
        const char *why = diagnostic != NULL ? diagnostic->error : "the disassembler does not say why";
        result = kp_error_set(KP_ERROR_SPIRV, "kp_disassemble: a module of %zu words: %s", word_count, why);
    } else if ((*out = kp_alloc_text(text->str)) == NULL) {
        result = kp_error_set(KP_ERROR_HOST_MEMORY, "out of host memory for the text of a module");
    }
    spvTextDestroy(text);
    spvDiagnosticDestroy(diagnostic);
    return result;
}

kp_result kp_disassemble(const uint32_t *words, size_t word_count, char **out) {
    if (words == NULL || out == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "kp_disassemble: %s is NULL", words == NULL ? "words" : "out");
    if (word_count < HEADER_WORDS || words[0] != MAGIC)
        return kp_error_set(KP_ERROR_SPIRV, "kp_disassemble: %zu words that do not start as SPIR-V does", word_count);
    spv_context context = spvContextCreate(environment(words[VERSION_WORD]));
    if (context == NULL)
        return kp_error_set(KP_ERROR_HOST_MEMORY, "out of host memory for the text of a module");
    char *text = NULL;
    kp_result result = write_text(context, words, word_count, &text);
    spvContextDestroy(context);
    if (result == KP_OK)
        *out = text;
    return result;
}
