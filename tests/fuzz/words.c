// Writes a dictionary for libFuzzer: the lines of the file that is its argument, and behind them every word of the
// compiler's own lists, so that none is missing.
#include <kp/base.h>

#include <stdio.h>

static const char *const words[] = {
#define OPERATOR(name, text) text,
#define KEYWORD(name, text) text " ",
#include "compiler/tokens.def"
#define BUILTIN(name, least, most, rule, op) name "(",
#define CONSTANT(name, value) "math." name,
#include "compiler/builtins.def"
#define NAME(name, hint) name,
#define MEMBER(name, hint) "." name,
#define WORD(name, hint) name " ",
#include "compiler/habits.def"
#define KP_X(id, bytes, name, numpy, letter) name, numpy,
    KP_DTYPES(KP_X)
#undef KP_X
};

int main(int count, char **arguments) {
    FILE *in = count == 3 ? fopen(arguments[1], "r") : NULL, *out = count == 3 ? fopen(arguments[2], "w") : NULL;
    if (in == NULL || out == NULL)
        return 1;
    for (int c; (c = getc(in)) != EOF;)
        putc(c, out);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        fprintf(out, "\"%s\"\n", words[i]); // none has a quote or a backslash
    fclose(in);
    return fclose(out) == 0 ? 0 : 1;
}
