// See reflect_access.h. An access happens to a value (a pointer, an image) that was made from another (an access chain
// from its base, an image from the variable it was loaded from, a parameter from its arguments), and so on down to a
// variable. So: walk the reached functions once, note on each value what is done to it, and "made from" as a link; then
// let the notes flow along the links until nothing changes. Three notes a value make that at most three steps a link,
// cycles or not.
//
// Where a value goes out of sight (a pointer that is stored, an instruction newer than this file), it counts as read
// and written: a barrier too many, never one too few.
#include "reflect_access.h"

#include <string.h>

enum {
    ALL = KP_REFLECT_USED | KP_REFLECT_READ | KP_REFLECT_WRITE,
    MOST_OTHERS = 64, // instructions among a function's parameters that are none
};

typedef struct link {
    uint32_t made, from; // rows
} link;

typedef struct walk {
    kp_reflect_module *m;
    uint8_t *flags;       // by row
    link *links;          //
    size_t link_count;    // at most one a word of the module
    uint32_t *queue;      // functions to walk, by row; each enters once
    uint32_t queue_count; //
    bool *queued;         // by row
    uint32_t function;    // row of the one being walked: it stands for what it returns
    bool loops, extended_subgroups;
    bool buffer_atomics64, shared_atomics64, buffer_float_adds, shared_float_adds;
} walk;

static uint32_t row_of(const walk *w, const kp_reflect_instruction *i, uint32_t k) {
    return kp_reflect_module_find(w->m, kp_reflect_operand(i, k));
}

// Notes what is done to the value that operand k names.
static void note(walk *w, const kp_reflect_instruction *i, uint32_t k, uint8_t flags) {
    uint32_t row = row_of(w, i, k);
    if (row != KP_REFLECT_NONE)
        w->flags[row] |= (uint8_t)(flags | KP_REFLECT_USED);
}

static void add_link(walk *w, uint32_t made, uint32_t from) {
    if (made == KP_REFLECT_NONE || from == KP_REFLECT_NONE)
        return;
    w->flags[from] |= KP_REFLECT_USED;
    w->links[w->link_count++] = (link){made, from};
}

// The result of the instruction is made from operand k.
static void derive(walk *w, const kp_reflect_instruction *i, uint32_t k) {
    add_link(w, row_of(w, i, 2), row_of(w, i, k));
}

// Is the value a pointer, or a handle of something that an instruction reads or writes through?
static bool is_handle(const walk *w, uint32_t row) {
    uint32_t type = kp_reflect_module_type(w->m, row);
    if (type == KP_REFLECT_NONE)
        return false;
    switch (kp_reflect_module_def(w->m, type).op) {
    case SpvOpTypePointer:
    case SpvOpTypeImage:
    case SpvOpTypeSampler:
    case SpvOpTypeSampledImage:
    case SpvOpTypeAccelerationStructureKHR:
        return true;
    default:
        return false;
    }
}

// The value goes where it cannot be followed.
static void escape(walk *w, const kp_reflect_instruction *i, uint32_t k) {
    uint32_t row = row_of(w, i, k);
    if (row != KP_REFLECT_NONE && is_handle(w, row))
        w->flags[row] |= ALL;
}

static void escape_from(walk *w, const kp_reflect_instruction *i, uint32_t first) {
    for (uint32_t k = first; k < i->count; k++)
        escape(w, i, k);
}

// Loading a handle only hands it on; loading anything else reads, and hands on the handles that may be inside.
static void load(walk *w, const kp_reflect_instruction *i) {
    uint32_t result = row_of(w, i, 2);
    derive(w, i, 3);
    if (result == KP_REFLECT_NONE || !is_handle(w, result))
        note(w, i, 3, KP_REFLECT_READ);
}

static void call(walk *w, const kp_reflect_instruction *i) {
    uint32_t callee = row_of(w, i, 3);
    if (callee == KP_REFLECT_NONE || kp_reflect_module_def(w->m, callee).op != SpvOpFunction) {
        escape_from(w, i, 4);
        return;
    }
    add_link(w, row_of(w, i, 2), callee);
    if (!w->queued[callee]) {
        w->queued[callee] = true;
        w->queue[w->queue_count++] = callee;
    }
    uint32_t at = w->m->defs[callee].at, k = 4, others = 0;
    kp_reflect_instruction p;
    kp_reflect_module_next(w->m, &at, &p);
    while (k < i->count && others < MOST_OTHERS && kp_reflect_module_next(w->m, &at, &p)) {
        if (p.op == SpvOpFunctionParameter)
            add_link(w, row_of(w, &p, 2), row_of(w, i, k++));
        else if (p.op == SpvOpLine || p.op == SpvOpNoLine)
            others++;
        else
            break;
    }
    escape_from(w, i, k);
}

// Instructions of OpExtInst's sets for debuggers name variables but touch none.
static bool is_debug_set(const walk *w, uint32_t row) {
    if (row == KP_REFLECT_NONE)
        return false;
    kp_reflect_instruction set = kp_reflect_module_def(w->m, row);
    char name[20] = {0};
    for (uint32_t k = 0; k < sizeof name - 1 && 2 + k / 4 < set.count; k++)
        name[k] = (char)(set.words[2 + k / 4] >> 8 * (k % 4) & 0xFFu);
    return strncmp(name, "NonSemantic.", 12) == 0 || strncmp(name, "OpenCL.DebugInfo", 16) == 0 ||
           strncmp(name, "DebugInfo", 9) == 0;
}

// Arithmetic, conversion, composites of plain values, control flow: what takes neither pointers nor handles.
static bool is_plain(SpvOp op) {
    if (op >= SpvOpConvertPtrToU && op <= SpvOpBitcast)
        return false; // these may take pointers
    return (op >= SpvOpConvertFToU && op <= SpvOpFwidthCoarse) ||
           (op >= SpvOpVectorExtractDynamic && op <= SpvOpVectorShuffle) ||
           (op >= SpvOpLoopMerge && op <= SpvOpUnreachable) ||
           (op >= SpvOpControlBarrier && op <= SpvOpMemoryBarrier) ||
           (op >= SpvOpGroupNonUniformElect && op <= SpvOpGroupNonUniformQuadSwap) || op == SpvOpFunction ||
           op == SpvOpFunctionParameter || op == SpvOpFunctionEnd || op == SpvOpLine || op == SpvOpNoLine ||
           op == SpvOpNop || op == SpvOpUndef || op == SpvOpTranspose || op == SpvOpSizeOf || op == SpvOpCopyLogical;
}

// Returns false when the instruction is none of these.
static bool visit_memory(walk *w, const kp_reflect_instruction *i) {
    switch (i->op) {
    case SpvOpLoad:
        load(w, i);
        return true;
    case SpvOpStore:
        note(w, i, 1, KP_REFLECT_WRITE);
        escape(w, i, 2);
        return true;
    case SpvOpCopyMemory:
    case SpvOpCopyMemorySized:
        note(w, i, 1, KP_REFLECT_WRITE);
        note(w, i, 2, KP_REFLECT_READ);
        return true;
    case SpvOpArrayLength:
        note(w, i, 3, 0);
        return true;
    case SpvOpVariable: // a local one; its initializer may be a global pointer
        escape(w, i, 4);
        return true;
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpPtrAccessChain:
    case SpvOpInBoundsPtrAccessChain:
    case SpvOpImageTexelPointer:
    case SpvOpCopyObject:
        derive(w, i, 3);
        return true;
    case SpvOpSelect:
        derive(w, i, 4);
        derive(w, i, 5);
        return true;
    case SpvOpPhi:
        for (uint32_t k = 3; k < i->count; k += 2)
            derive(w, i, k);
        return true;
    case SpvOpCompositeConstruct:
    case SpvOpCompositeExtract:
    case SpvOpCompositeInsert:
        derive(w, i, 3);
        for (uint32_t k = 4; k < i->count && i->op != SpvOpCompositeExtract; k++)
            derive(w, i, k);
        return true;
    case SpvOpPtrEqual:
    case SpvOpPtrNotEqual:
    case SpvOpPtrDiff:
        note(w, i, 3, 0);
        note(w, i, 4, 0);
        return true;
    default:
        return false;
    }
}

// Returns false when the instruction is none of these.
static bool visit_image(walk *w, const kp_reflect_instruction *i) {
    switch (i->op) {
    case SpvOpSampledImage:
        derive(w, i, 3);
        derive(w, i, 4);
        return true;
    case SpvOpImage:
        derive(w, i, 3);
        return true;
    case SpvOpImageWrite:
        note(w, i, 1, KP_REFLECT_WRITE);
        return true;
    case SpvOpImageSparseTexelsResident:
        return true;
    default:
        break;
    }
    if (i->op >= SpvOpImageQueryFormat && i->op <= SpvOpImageQuerySamples)
        note(w, i, 3, 0);
    else if ((i->op >= SpvOpImageSampleImplicitLod && i->op <= SpvOpImageRead) ||
             (i->op >= SpvOpImageSparseSampleImplicitLod && i->op <= SpvOpImageSparseDrefGather) ||
             i->op == SpvOpImageSparseRead)
        note(w, i, 3, KP_REFLECT_READ);
    else
        return false;
    return true;
}

static void note_atomic_type(walk *w, const kp_reflect_instruction *i) {
    uint32_t type = row_of(w, i, 1), pointer = row_of(w, i, 3);
    uint32_t pointer_type = pointer != KP_REFLECT_NONE ? kp_reflect_module_type(w->m, pointer) : KP_REFLECT_NONE;
    if (type == KP_REFLECT_NONE || pointer_type == KP_REFLECT_NONE)
        return;
    kp_reflect_instruction t = kp_reflect_module_def(w->m, type), p = kp_reflect_module_def(w->m, pointer_type);
    if (p.op != SpvOpTypePointer)
        return;
    uint32_t storage = kp_reflect_operand(&p, 2), width = kp_reflect_operand(&t, 2);
    bool shared = storage == SpvStorageClassWorkgroup, image = storage == SpvStorageClassImage;
    bool wide = t.op == SpvOpTypeInt && width == 64;
    bool add = t.op == SpvOpTypeFloat && width == 32 && i->op == SpvOpAtomicFAddEXT;
    w->shared_atomics64 |= wide && shared;
    w->buffer_atomics64 |= wide && !shared;
    w->shared_float_adds |= add && shared;
    w->buffer_float_adds |= add && !shared && !image;
}

// Returns false when the instruction is none of these.
static bool visit_atomic(walk *w, const kp_reflect_instruction *i) {
    switch (i->op) {
    case SpvOpAtomicLoad:
        note(w, i, 3, KP_REFLECT_READ);
        return true;
    case SpvOpAtomicStore:
    case SpvOpAtomicFlagClear:
        note(w, i, 1, KP_REFLECT_WRITE);
        return true;
    default:
        break;
    }
    bool changes = (i->op >= SpvOpAtomicExchange && i->op <= SpvOpAtomicXor) || i->op == SpvOpAtomicFlagTestAndSet ||
                   i->op == SpvOpAtomicFMinEXT || i->op == SpvOpAtomicFMaxEXT || i->op == SpvOpAtomicFAddEXT;
    if (changes) {
        note(w, i, 3, ALL);
        note_atomic_type(w, i);
    }
    return changes;
}

static bool is_subgroup_op(SpvOp op) { return op >= SpvOpGroupNonUniformElect && op <= SpvOpGroupNonUniformQuadSwap; }

// Is the result of a subgroup operation one that shaderSubgroupExtendedTypes is about?
static bool is_extended(const walk *w, const kp_reflect_instruction *i) {
    uint32_t row = row_of(w, i, 1);
    if (row == KP_REFLECT_NONE)
        return false;
    kp_reflect_instruction type = kp_reflect_module_def(w->m, row);
    if (type.op == SpvOpTypeVector) {
        row = kp_reflect_module_find(w->m, kp_reflect_operand(&type, 2));
        if (row == KP_REFLECT_NONE)
            return false;
        type = kp_reflect_module_def(w->m, row);
    }
    return (type.op == SpvOpTypeInt && kp_reflect_operand(&type, 2) != 32) ||
           (type.op == SpvOpTypeFloat && kp_reflect_operand(&type, 2) == 16);
}

static void visit(walk *w, const kp_reflect_instruction *i) {
    if (is_subgroup_op(i->op))
        w->extended_subgroups |= is_extended(w, i);
    switch (i->op) {
    case SpvOpFunctionCall:
        call(w, i);
        break;
    case SpvOpReturnValue:
        add_link(w, w->function, row_of(w, i, 1));
        break;
    case SpvOpExtInst:
        if (!is_debug_set(w, row_of(w, i, 3)))
            escape_from(w, i, 5);
        break;
    case SpvOpLoopMerge:
        w->loops = true;
        break;
    default:
        if (!visit_memory(w, i) && !visit_image(w, i) && !visit_atomic(w, i) && !is_plain(i->op))
            escape_from(w, i, 1);
    }
}

// Every word of the functions is visited at most once, so that there is at most one link for each.
static void walk_function(walk *w) {
    uint32_t at = w->m->defs[w->function].at;
    kp_reflect_instruction i;
    kp_reflect_module_next(w->m, &at, &i); // OpFunction itself
    while (kp_reflect_module_next(w->m, &at, &i) && i.op != SpvOpFunctionEnd && i.op != SpvOpFunction)
        visit(w, &i);
}

// Lets the notes flow from each value to those that it is made from. Links are grouped by `made` first.
static void flow(walk *w) {
    kp_reflect_module *m = w->m;
    uint32_t *first = kp_reflect_module_alloc(m, m->scratch, (size_t)m->def_count + 2, sizeof *first);
    uint32_t *from = kp_reflect_module_alloc(m, m->scratch, w->link_count, sizeof *from);
    uint32_t *stack = kp_reflect_module_alloc(m, m->scratch, (size_t)m->def_count, sizeof *stack);
    bool *waiting = kp_reflect_module_alloc(m, m->scratch, m->def_count, sizeof *waiting);
    for (size_t k = 0; k < w->link_count; k++)
        first[w->links[k].made + 2]++;
    for (uint32_t row = 0; row < m->def_count; row++)
        first[row + 1] += first[row];
    for (size_t k = 0; k < w->link_count; k++)
        from[first[w->links[k].made + 1]++] = w->links[k].from;
    uint32_t depth = 0;
    for (uint32_t row = 0; row < m->def_count; row++) {
        waiting[row] = w->flags[row] != 0;
        if (waiting[row])
            stack[depth++] = row;
    }
    while (depth != 0) {
        uint32_t row = stack[--depth];
        waiting[row] = false;
        for (uint32_t k = first[row]; k < first[row + 1]; k++) {
            uint8_t more = (uint8_t)(w->flags[from[k]] | w->flags[row]);
            if (more == w->flags[from[k]])
                continue;
            w->flags[from[k]] = more;
            if (!waiting[from[k]])
                stack[depth++] = from[k];
            waiting[from[k]] = true;
        }
    }
}

kp_reflect_access kp_reflect_access_find(kp_reflect_module *m, uint32_t function) {
    walk w = {.m = m};
    w.flags = kp_reflect_module_alloc(m, m->scratch, m->def_count, 1);
    w.links = kp_reflect_module_alloc(m, m->scratch, m->word_count, sizeof *w.links);
    w.queue = kp_reflect_module_alloc(m, m->scratch, m->def_count, sizeof *w.queue);
    w.queued = kp_reflect_module_alloc(m, m->scratch, m->def_count, sizeof *w.queued);
    uint32_t entry = kp_reflect_module_find(m, function);
    if (entry == KP_REFLECT_NONE || kp_reflect_module_def(m, entry).op != SpvOpFunction)
        kp_reflect_module_fail(m, KP_ERROR_SPIRV, "the entry point's function, id %u, is not there",
                               (unsigned)function);
    w.queue[w.queue_count++] = entry;
    w.queued[entry] = true;
    for (uint32_t k = 0; k < w.queue_count; k++) {
        w.function = w.queue[k];
        walk_function(&w);
    }
    flow(&w);
    return (kp_reflect_access){.flags = w.flags,
                               .loops = w.loops,
                               .extended_subgroups = w.extended_subgroups,
                               .buffer_atomics64 = w.buffer_atomics64,
                               .shared_atomics64 = w.shared_atomics64,
                               .buffer_float_adds = w.buffer_float_adds,
                               .shared_float_adds = w.shared_float_adds};
}
