// The words of failures, one set per thread: what kp_last_error and kp_last_diagnostic answer.
#ifndef KP_SRC_BASE_ERROR_H
#define KP_SRC_BASE_ERROR_H

#include <kp/base.h>

#if defined(__GNUC__)
#define KP_PRINTF(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))
#else
#define KP_PRINTF(format_index, first_arg)
#endif

// Stores one line (cut at 2,047 bytes, never inside a UTF-8 character; newlines become spaces) and returns `result`, so
// that a failing function reads: return kp_error_set(KP_ERROR_LIMIT, "tensor '%s': ...", label);
kp_result kp_error_set(kp_result result, const char *format, ...) KP_PRINTF(2, 3);

// Makes a line of text that may have been cut: newlines become spaces, and a UTF-8 character without its end goes.
void kp_error_make_line(char *text);

// The usual words for a failed host allocation. Returns KP_ERROR_HOST_MEMORY.
kp_result kp_error_host_memory(size_t bytes);

// Position of a fault in kernel or shader text; the fields are those of kp_diagnostic, copied, `rendered` made from
// them.
typedef struct kp_error_position {
    const char *file;
    uint32_t line, column, end_column; // 1-based; column 0: unknown
    const char *source_line;           // need not be NUL-terminated
    size_t source_length;              // bytes
} kp_error_position;

// Stores the diagnostic, and "file:line:column: message" as the last error. Returns KP_ERROR_COMPILE.
kp_result kp_error_set_diagnostic(const kp_error_position *at, const char *message);

#endif
