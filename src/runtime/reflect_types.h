// What the constants of a module are worth and how many bytes its types take, for given specialization constants.
#ifndef KP_SRC_RUNTIME_REFLECT_TYPES_H
#define KP_SRC_RUNTIME_REFLECT_TYPES_H

#include "reflect.h"
#include "reflect_module.h"

#define KP_REFLECT_UNKNOWN UINT64_MAX // a size: not computable, or beyond 64 bits

// One row for each id outside functions.
typedef struct kp_reflect_row {
    uint64_t value; // constants: the bits
    uint64_t laid;  // types: bytes by the offsets and strides that decorate them; an array without a length adds none
    uint64_t tight; // types: bytes when packed by alignment alone
    uint8_t align;  // types: of `tight`
    bool known;     // constants: value is
} kp_reflect_row;

typedef struct kp_reflect_types {
    kp_reflect_module *module;
    const kp_reflect_value *values; // sorted by id
    size_t value_count;
    kp_reflect_row *rows;
} kp_reflect_types;

// Fills `rows` (in the module's scratch). module, values and value_count are set.
void kp_reflect_types_evaluate(kp_reflect_types *t);

// The value of a scalar constant by id. False when it is none, or not computable.
bool kp_reflect_types_constant(const kp_reflect_types *t, uint32_t id, uint64_t *out);

// The id of component `index` of a composite constant, or 0.
uint32_t kp_reflect_types_component(const kp_reflect_types *t, uint32_t id, uint32_t index);

// The scalar type of a row, when it is a scalar or a vector of them: false otherwise.
bool kp_reflect_types_element(const kp_reflect_module *m, uint32_t row, kp_dtype *dtype, uint32_t *components);

// Row of the type that operand k of the row's definition names, when it lies before `row`; else NONE.
uint32_t kp_reflect_types_before(const kp_reflect_module *m, uint32_t row, uint32_t k);

// What a variable's type points to; NONE when it is no pointer.
uint32_t kp_reflect_types_pointee(const kp_reflect_module *m, uint32_t variable);

// SpvStorageClass of a variable; NONE for any other row.
uint32_t kp_reflect_types_storage_class(const kp_reflect_module *m, uint32_t row);

// a + b and a * b that stop at KP_REFLECT_UNKNOWN.
uint64_t kp_reflect_types_sum(uint64_t a, uint64_t b);
uint64_t kp_reflect_types_product(uint64_t a, uint64_t b);

// Of two kp_reflect_values, by id: for qsort and bsearch.
int kp_reflect_types_order(const void *a, const void *b);

#endif
