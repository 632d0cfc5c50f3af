// See op.h.
#include "op.h"

#include "base/alloc.h"
#include "sequence.h"

#include <stdio.h>

kp_result kp_op_create(const kp_op_kind *kind, kp_sequence *sequence, kp_memory *const *memory, size_t count,
                       kp_op **out) {
    kp_result result = kp_sequence_check(sequence, kind->name);
    if (result != KP_OK)
        return result;
    const char *who = sequence->who;
    if (memory == NULL && count != 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: memory is NULL, but count is %zu", who, count);
    for (size_t i = 0; i < count && result == KP_OK; i++)
        result = kp_memory_check(memory[i], sequence->manager, who, i);
    if (result != KP_OK)
        return result;
    kp_op *op = kp_alloc_zero(1, kind->size);
    kp_memory **list = kp_alloc_zero(count, sizeof *list);
    if (op == NULL || list == NULL) {
        kp_alloc_free(op);
        kp_alloc_free(list);
        return kp_error_host_memory(kind->size + count * sizeof *list);
    }
    op->kind = kind;
    op->memory = list;
    op->memory_count = count;
    for (size_t i = 0; i < count; i++) {
        list[i] = memory[i];
        kp_memory_ref(list[i]);
    }
    *out = op;
    return KP_OK;
}

kp_result kp_op_record(const kp_op_kind *kind, kp_sequence *sequence, kp_memory *const *memory, size_t count) {
    kp_op *op = NULL;
    kp_result result = kp_op_create(kind, sequence, memory, count, &op);
    return result == KP_OK ? kp_sequence_add(sequence, op) : result;
}

kp_result kp_op_need_host_sides(kp_op *op, const char *who) {
    for (size_t i = 0; i < op->memory_count; i++) {
        if (op->memory[i]->type == KP_MEMORY_STORAGE)
            return kp_error_set(KP_ERROR_STATE, "%s: %s '%s' is a storage %s, which has no host side to sync", who,
                                kp_memory_kind(op->memory[i]), op->memory[i]->label, kp_memory_kind(op->memory[i]));
        kp_result result = kp_memory_need_host(op->memory[i]);
        if (result != KP_OK)
            return result;
    }
    return KP_OK;
}

void kp_op_destroy(kp_op *op) {
    if (op == NULL)
        return;
    if (op->kind->destroy != NULL)
        op->kind->destroy(op);
    for (size_t i = 0; i < op->memory_count; i++)
        kp_memory_unref(op->memory[i]);
    kp_algorithm_unref(op->algorithm);
    kp_alloc_free(op->memory);
    kp_alloc_free(op);
}

void kp_op_describe(const kp_op *op, char *text, size_t size) {
    if (op->kind->title != NULL) {
        snprintf(text, size, "%s", op->kind->title(op));
        return;
    }
    size_t used = (size_t)snprintf(text, size, "%s", op->kind->name);
    if (op->algorithm != NULL && used < size)
        used += (size_t)snprintf(text + used, size - used, " '%s'", op->algorithm->label);
    for (size_t i = 0; i < op->memory_count && used < size && op->algorithm == NULL; i++)
        used += (size_t)snprintf(text + used, size - used, "%s '%s'", i != 0 ? "," : "", op->memory[i]->label);
}
