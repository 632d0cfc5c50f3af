// Any bytes into kp_reflect_create; what comes out is read to the last letter, and specialized.
#include "runtime/reflect.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sink; // keeps the reading from being optimised away

static void read_text(const char *text) { sink += text != NULL ? strlen(text) : 0; }

static void read_all(const kp_reflect *r) {
    for (size_t k = 0; k < r->entry_count; k++)
        read_text(r->entries[k].name);
    for (size_t k = 0; k < r->extension_count; k++)
        read_text(r->extensions[k]);
    for (size_t k = 0; k < r->spec_count; k++)
        read_text(r->specs[k].name);
    for (size_t k = 0; k < r->binding_count; k++) {
        read_text(r->bindings[k].name);
        read_text(kp_reflect_kind_name(r->bindings[k].kind));
        if (r->bindings[k].set >= r->set_count ||
            (r->bindings[k].has_dtype && kp_dtype_size(r->bindings[k].dtype) == 0))
            abort();
    }
}

static void specialize(const kp_reflect *r) {
    kp_reflect_value values[8] = {{1000, 3}, {7, 0}};
    size_t count = r->spec_count < 8 ? r->spec_count : 8;
    for (size_t k = 0; k < count; k++)
        values[k] = (kp_reflect_value){r->specs[k].id, r->specs[k].value * 3 + 1};
    kp_reflect_sizes sizes;
    if (kp_reflect_specialize(r, values, count, &sizes) != KP_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const entries[] = {NULL, "kp_blocks"};
    for (size_t k = 0; k < sizeof entries / sizeof *entries; k++) {
        kp_reflect *r;
        if (kp_reflect_create(&(kp_reflect_desc){.bytes = data, .size = size, .entry = entries[k]}, &r) != KP_OK)
            continue;
        read_all(r);
        specialize(r);
        kp_reflect_destroy(r);
    }
    return 0;
}
