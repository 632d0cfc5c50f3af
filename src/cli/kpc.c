// kpc - compiles kernels from the command line.
//
// Uses kp/compiler.h as any program could. What it writes to a file is complete or not there: results are made in
// memory first.
#include "header.h"

#include <kp/compiler.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, EXIT_IO = 3 };

static const char usage[] =
    "usage: kpc FILE [options]\n"
    "Compiles a kernel, a function in Python syntax, to SPIR-V. FILE \"-\" is the standard input, and so is \"-\" for\n"
    "a FILE that is written the standard output. Without options it only checks.\n"
    "\n"
    "  --kernel=NAME      the function to compile; without it, the last one of the file\n"
    "  -o FILE            write the SPIR-V module\n"
    "  --c-header=FILE    write a C header with the words, a table of the parameters and a kp_program; with several\n"
    "                     --kernel=NAME it holds them all\n"
    "  --name=SYMBOL      name of the kp_program in the header; without it, the kernel's name and _program\n"
    "  --dump=STAGE       print a stage: tokens, ast, types, spirv\n"
    "  --list             print the names of the functions in the file\n"
    "  --no-debug         leave names and lines out of the module\n"
    "  --checked          the kernel looks for mistakes as it runs: for kp's runtime alone\n"
    "  --float-atomics    the module for devices that add to an f32 by one instruction: with -o and --dump=spirv\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 done, 1 the kernel is faulty, 2 wrong options, 3 a file cannot be read or written.\n";

typedef struct options {
    const char *file, *output, *header, *symbol, *dump;
    const char **kernels; // as many as arguments
    size_t kernel_count;
    bool list, no_debug, checked, float_atomics;
} options;

// ---------------------------------------------------------------------------------------------------------------------
// Options
// ---------------------------------------------------------------------------------------------------------------------

// The value of "--name=value" or "--name value"; NULL when argument `*i` is another.
static const char *value_of(const char *name, int argc, char **argv, int *i) {
    size_t length = strlen(name);
    if (strncmp(argv[*i], name, length) != 0)
        return NULL;
    if (argv[*i][length] == '=')
        return argv[*i] + length + 1;
    if (argv[*i][length] != '\0' || *i + 1 >= argc)
        return NULL;
    return argv[++*i];
}

static bool parse_option(options *o, int argc, char **argv, int *i) {
    static const char *const names[] = {"--kernel", "-o", "--c-header", "--name", "--dump"};
    const char **const values[] = {&o->kernels[o->kernel_count], &o->output, &o->header, &o->symbol, &o->dump};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *value = value_of(names[k], argc, argv, i);
        if (value != NULL) {
            *values[k] = value;
            o->kernel_count += k == 0;
            return true;
        }
    }
    if (strcmp(argv[*i], "--list") == 0)
        return o->list = true;
    if (strcmp(argv[*i], "--no-debug") == 0)
        return o->no_debug = true;
    if (strcmp(argv[*i], "--checked") == 0)
        return o->checked = true;
    if (strcmp(argv[*i], "--float-atomics") == 0)
        return o->float_atomics = true;
    if (o->file != NULL || (argv[*i][0] == '-' && argv[*i][1] != '\0'))
        return false;
    o->file = argv[*i];
    return true;
}

static bool is_stage(const char *stage) {
    return strcmp(stage, "tokens") == 0 || strcmp(stage, "ast") == 0 || strcmp(stage, "types") == 0 ||
           strcmp(stage, "spirv") == 0;
}

static int parse_options(options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (!parse_option(o, argc, argv, &i)) {
            fprintf(stderr, "kpc: cannot make sense of '%s'; kpc --help lists the options\n", argv[i]);
            return EXIT_USAGE;
        }
    }
    if (o->file == NULL) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    if (o->dump != NULL && !is_stage(o->dump)) {
        fprintf(stderr, "kpc: there is no stage '%s'; there are tokens, ast, types and spirv\n", o->dump);
        return EXIT_USAGE;
    }
    if (o->kernel_count > 1 && (o->output != NULL || o->dump != NULL || o->symbol != NULL)) {
        fprintf(stderr, "kpc: %s is for one kernel, and there are %zu\n",
                o->output != NULL ? "-o"
                : o->dump != NULL ? "--dump"
                                  : "--name",
                o->kernel_count);
        return EXIT_USAGE;
    }
    if (o->symbol != NULL && !header_is_name(o->symbol)) {
        fprintf(stderr, "kpc: --name: '%s' cannot be a name in C\n", o->symbol);
        return EXIT_USAGE;
    }
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Files
// ---------------------------------------------------------------------------------------------------------------------

static char *read_stream(FILE *stream, size_t *size) {
    size_t length = 0, capacity = 1 << 16;
    char *text = malloc(capacity);
    while (text != NULL) {
        length += fread(text + length, 1, capacity - length - 1, stream);
        if (length + 1 < capacity)
            break;
        char *bigger = realloc(text, capacity *= 2);
        if (bigger == NULL)
            free(text);
        text = bigger;
    }
    if (text != NULL && ferror(stream)) {
        free(text);
        return NULL;
    }
    if (text != NULL)
        text[length] = '\0';
    *size = length;
    return text;
}

static char *read_file(const char *path, size_t *length) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *text = file != NULL ? read_stream(file, length) : NULL;
    if (text == NULL)
        fprintf(stderr, "kpc: cannot read %s: %s\n", path, strerror(errno));
    if (file != NULL && file != stdin)
        fclose(file);
    return text;
}

static int write_file(const char *path, const void *bytes, size_t size) {
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdout : fopen(path, "wb");
    bool good = file != NULL && fwrite(bytes, 1, size, file) == size;
    if (file != NULL && !standard)
        good = fclose(file) == 0 && good;
    if (good)
        return 0;
    fprintf(stderr, "kpc: cannot write %s: %s\n", path, strerror(errno));
    if (file != NULL && !standard)
        remove(path);
    return EXIT_IO;
}

// ---------------------------------------------------------------------------------------------------------------------
// The C header
// ---------------------------------------------------------------------------------------------------------------------

// The kernel's name and "_program", or what --name says.
static void add_named_program(header_text *t, const options *o, const kp_program *program) {
    header_text symbol = header_new();
    header_add(&symbol, o->symbol != NULL ? o->symbol : program->name);
    header_add(&symbol, o->symbol != NULL ? "" : "_program");
    if (symbol.data != NULL) {
        header_program(t, program, symbol.data);
    } else {
        free(t->data);
        t->data = NULL;
    }
    free(symbol.data);
}

static int write_header(const options *o, header_text *t) {
    if (t->data == NULL) {
        fprintf(stderr, "kpc: out of memory\n");
        return EXIT_IO;
    }
    int status = write_file(o->header, t->data, t->length);
    free(t->data);
    return status;
}

// ---------------------------------------------------------------------------------------------------------------------
// Jobs
// ---------------------------------------------------------------------------------------------------------------------

// Says what is wrong, with the line and a caret where there is one.
static int fail(kp_result result) {
    const char *words = result == KP_ERROR_COMPILE ? kp_last_diagnostic()->rendered : kp_last_error();
    fprintf(stderr, "%s\n", words);
    return EXIT_FAILURE;
}

// Prints what the compiler wrote, and frees it.
static int print_text(kp_result result, char **made) {
    char *words = *made;
    if (result != KP_OK)
        return fail(result);
    int status = write_file("-", words, strlen(words));
    kp_free(words);
    return status;
}

static int print_spirv(const kp_alternative *module) {
    char *words = NULL;
    return print_text(kp_disassemble(module->words, module->word_count, &words), &words);
}

// The module that is asked for: one for any device, unless the kernel has a better one.
static kp_alternative module_of(const options *o, const kp_program *program) {
    if (o->float_atomics && program->alternative_count != 0)
        return program->alternatives[0];
    return (kp_alternative){.words = program->words, .word_count = program->word_count};
}

// The compiler takes a text that ends with NUL, so it cannot say this itself.
static int fail_at_nul(const options *o, const char *source) {
    const char *line = source;
    size_t number = 1;
    for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        number++;
    size_t column = 1, length = strlen(line);
    for (size_t i = 0; i < length; i++)
        column += ((unsigned char)line[i] & 0xC0u) != 0x80u;
    fprintf(stderr, "%s:%zu:%zu: the source has a NUL byte here\n    %s\n    %*s\n", o->file, number, column, line,
            (int)column, "^");
    return EXIT_FAILURE;
}

static int print_stage(const options *o, const char *source, const kp_compile_desc *desc) {
    kp_dump stage = strcmp(o->dump, "tokens") == 0 ? KP_DUMP_TOKENS
                    : strcmp(o->dump, "ast") == 0  ? KP_DUMP_AST
                                                   : KP_DUMP_TYPES;
    char *words = NULL;
    return print_text(kp_compile_dump(source, desc, stage, &words), &words);
}

// Compiles one kernel; what it gives goes to its file, to the terminal, or to the end of `header`.
static int compile(const options *o, const char *source, const kp_compile_desc *desc, header_text *header) {
    kp_program *program = NULL;
    kp_result result = kp_compile(source, desc, &program);
    if (result != KP_OK)
        return fail(result);
    int status = 0;
    const kp_alternative module = module_of(o, program);
    if (o->output != NULL)
        status = write_file(o->output, module.words, module.word_count * sizeof *module.words);
    if (o->header != NULL)
        add_named_program(header, o, program);
    if (status == 0 && o->dump != NULL)
        status = print_spirv(&module);
    kp_program_destroy(program);
    return status;
}

static int compile_all(const options *o, const char *source, kp_compile_desc *desc) {
    header_text header = header_new();
    header_begin(&header, o->file);
    int status = 0;
    for (size_t i = 0; status == 0 && i < (o->kernel_count > 0 ? o->kernel_count : 1); i++) {
        desc->kernel = o->kernels[i];
        status = compile(o, source, desc, &header);
    }
    if (status == 0 && o->header != NULL)
        return write_header(o, &header);
    free(header.data);
    return status;
}

static int run(const options *o, const char *source) {
    kp_compile_desc desc = {
        .kernel = o->kernels[0], .file = o->file, .no_debug_info = o->no_debug, .checked = o->checked};
    char *words = NULL;
    if (o->list)
        return print_text(kp_compile_list(source, &desc, &words), &words);
    if (o->dump != NULL && strcmp(o->dump, "spirv") != 0)
        return print_stage(o, source, &desc);
    return compile_all(o, source, &desc);
}

static int read_and_run(const options *o) {
    size_t length;
    char *source = read_file(o->file, &length);
    if (source == NULL)
        return EXIT_IO;
    int status = strlen(source) == length ? run(o, source) : fail_at_nul(o, source);
    free(source);
    return status;
}

int main(int argc, char **argv) {
    options o = {0};
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("kpc %s\n", kp_version());
        return 0;
    }
    o.kernels = calloc((size_t)argc + 1, sizeof *o.kernels);
    if (o.kernels == NULL) {
        fprintf(stderr, "kpc: out of memory\n");
        return EXIT_IO;
    }
    int status = parse_options(&o, argc, argv);
    if (status == 0)
        status = read_and_run(&o);
    free(o.kernels);
    return status;
}
