// example.h - what the examples share: a call that fails ends the program with kp's own words.
#ifndef KP_EXAMPLE_H
#define KP_EXAMPLE_H

#include <kp/kp.h>
#include <stdio.h>
#include <stdlib.h>

#define check(call)                                   \
    do {                                              \
        if ((call) != KP_OK) {                        \
            fprintf(stderr, "%s\n", kp_last_error()); \
            exit(1);                                  \
        }                                             \
    } while (0)

#endif
