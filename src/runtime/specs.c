// See specs.h.
#include "specs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/launch.h"
#include "base/str.h"
#include "reflect_types.h"

#include <stdlib.h>
#include <string.h>

static kp_result unknown_spec(const kp_reflect *reflect, uint32_t id, const char *label) {
    kp_str list = {0};
    for (size_t i = 0; i < reflect->spec_count; i++) {
        const kp_reflect_spec *s = &reflect->specs[i];
        if (!kp_launch_has_spec(s->id))
            kp_str_format(&list, "%s%u (%s)", list.length != 0 ? ", " : "", s->id, kp_dtype_name(s->dtype));
    }
    kp_result result =
        kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': the module has no specialization constant %u; it has %s",
                     label, id, list.length != 0 ? list.data : "none");
    kp_str_free(&list);
    return result;
}

static bool is_float(kp_dtype dtype) { return dtype == KP_F16 || dtype == KP_F32 || dtype == KP_F64; }

static bool is_unsigned(kp_dtype dtype) {
    return dtype == KP_U8 || dtype == KP_U16 || dtype == KP_U32 || dtype == KP_U64;
}

// Whether bits of one type may stand for a constant of another: no number is taken for one of the other kind. Unsigned
// ones fit all of their size, as bits: an array of them is how Kompute's programs mix floats and integers.
static bool fits(kp_dtype given, kp_dtype own) {
    if (own == KP_BOOL && given == KP_U32) // as Vulkan has it
        return true;
    if (kp_dtype_size(given) != kp_dtype_size(own) || (given == KP_BOOL) != (own == KP_BOOL))
        return false;
    return is_float(given) == is_float(own) || is_unsigned(given);
}

static kp_result read_value(const kp_reflect *reflect, const kp_spec *spec, const char *label, kp_reflect_value *out) {
    const kp_reflect_spec *own = kp_launch_has_spec(spec->id) ? NULL : kp_reflect_find_spec(reflect, spec->id);
    if (own == NULL)
        return unknown_spec(reflect, spec->id, label);
    size_t size = kp_dtype_size(spec->dtype);
    if (spec->value == NULL || size == 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': specialization constant %u has no %s", label, spec->id,
                            spec->value == NULL ? "value" : "element type");
    if (!fits(spec->dtype, own->dtype))
        return kp_error_set(KP_ERROR_TYPE,
                            "algorithm '%s': specialization constant %u is %s in the module, %s was given", label,
                            spec->id, kp_dtype_name(own->dtype), kp_dtype_name(spec->dtype));
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t bits = 0;
    switch (size) {
    case 1:
        memcpy(&b1, spec->value, 1);
        bits = spec->dtype == KP_BOOL ? b1 != 0 : b1;
        break;
    case 2:
        memcpy(&b2, spec->value, 2);
        bits = b2;
        break;
    case 4:
        memcpy(&b4, spec->value, 4);
        bits = b4;
        break;
    default:
        memcpy(&bits, spec->value, 8);
        break;
    }
    out->id = spec->id;
    out->bits = bits;
    return KP_OK;
}

kp_result kp_specs_read(const kp_reflect *reflect, const kp_spec *specs, size_t count, const char *label,
                        kp_reflect_value **out) {
    if (count != 0 && specs == NULL)
        return kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': specs is NULL, but spec_count is %zu", label, count);
    kp_reflect_value *values = kp_alloc_zero(count, sizeof *values); // zeroed: padding is part of the key
    if (values == NULL)
        return kp_error_host_memory(count * sizeof *values);
    kp_result result = KP_OK;
    for (size_t i = 0; i < count && result == KP_OK; i++) {
        result = read_value(reflect, &specs[i], label, &values[i]);
    }
    if (result == KP_OK) {
        qsort(values, count, sizeof *values, kp_reflect_types_order);
        for (size_t i = 1; i < count && result == KP_OK; i++) {
            if (values[i].id == values[i - 1].id)
                result = kp_error_set(KP_ERROR_ARGUMENT, "algorithm '%s': specialization constant %u is given twice",
                                      label, values[i].id);
        }
    }
    if (result != KP_OK) {
        kp_alloc_free(values);
        return result;
    }
    *out = values;
    return KP_OK;
}
