// See reflect.h. The parts, bottom up: reflect_module (bytes to tables), reflect_types (constants and sizes),
// reflect_access (what functions do to variables), reflect_bindings (descriptors); here they are put together into
// plain data.
//
// Failure anywhere leaves by longjmp to the one setjmp, in `run`; what the steps change lives in its caller.
#include "reflect.h"

#include "base/alloc.h"
#include "base/launch.h"
#include "base/str.h"
#include "reflect_access.h"
#include "reflect_bindings.h"
#include "reflect_module.h"
#include "reflect_types.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_WORDS = 5, MOST_NAMES = 8 };

// What kp_reflect_destroy frees: the plain data first, so that the two have one address.
typedef struct holder {
    kp_reflect data;
    kp_reflect_module module;
    kp_arena keep;
    uint8_t *used;     // for each id outside functions: whether the entry point uses it
    uint32_t function; // id of the entry point's
} holder;

// One call at work.
typedef struct job {
    holder *h;
    kp_reflect_module *m;
    kp_reflect_types types;
    uint32_t *functions; // of each entry: the id of its function
    const kp_reflect_desc *desc;
    kp_reflect_sizes *sizes;
} job;

const char *kp_reflect_kind_name(kp_reflect_kind kind) {
    switch (kind) {
#define KP_X(name, words)   \
    case KP_REFLECT_##name: \
        return words;
        KP_REFLECT_KINDS(KP_X)
#undef KP_X
    }
    return "?";
}

static void *keep(job *j, size_t count, size_t size) { return kp_reflect_module_alloc(j->m, j->m->keep, count, size); }

// ---------------------------------------------------------------------------------------------------------------------
// Entry points and local sizes
// ---------------------------------------------------------------------------------------------------------------------

// One axis of the local size, from the id of a constant.
static void axis_from(const kp_reflect_types *t, uint32_t id, uint32_t *size, uint32_t *spec) {
    uint64_t value = 0;
    bool known = kp_reflect_types_constant(t, id, &value) && value <= UINT32_MAX;
    uint32_t row = kp_reflect_module_find(t->module, id);
    *size = known ? (uint32_t)value : 0;
    *spec = KP_REFLECT_NO_SPEC;
    if (known && kp_reflect_module_def(t->module, row).op == SpvOpSpecConstant)
        *spec = t->module->defs[row].spec;
}

// Vulkan's order: the constant decorated WorkgroupSize, else LocalSizeId, else LocalSize.
static void local_size(const kp_reflect_types *t, uint32_t workgroup_size, uint32_t function, uint32_t size[3],
                       uint32_t spec[3]) {
    const kp_reflect_module *m = t->module;
    uint32_t row = kp_reflect_module_find(m, function);
    uint32_t at = row != KP_REFLECT_NONE ? m->defs[row].local_at : KP_REFLECT_NONE;
    for (uint32_t axis = 0; axis < 3; axis++) {
        size[axis] = 0;
        spec[axis] = KP_REFLECT_NO_SPEC;
        if (workgroup_size != 0) {
            axis_from(t, kp_reflect_types_component(t, workgroup_size, axis), &size[axis], &spec[axis]);
        } else if (at != KP_REFLECT_NONE) {
            kp_reflect_instruction i = kp_reflect_module_at(m, at);
            if (kp_reflect_operand(&i, 2) == SpvExecutionModeLocalSizeId)
                axis_from(t, kp_reflect_operand(&i, 3 + axis), &size[axis], &spec[axis]);
            else
                size[axis] = kp_reflect_operand(&i, 3 + axis);
        }
    }
}

// The id of the constant decorated BuiltIn WorkgroupSize, or 0.
static uint32_t find_workgroup_size(const kp_reflect_module *m) {
    for (uint32_t row = 0; row < m->global_count; row++) {
        SpvOp op = kp_reflect_module_def(m, row).op;
        if (m->defs[row].builtin == SpvBuiltInWorkgroupSize &&
            (op == SpvOpConstantComposite || op == SpvOpSpecConstantComposite))
            return m->defs[row].id;
    }
    return 0;
}

// Walks the module's head for one opcode: for (at = HEADER_WORDS; next_of(m, SpvOpX, &at, &i);)
static bool next_of(const kp_reflect_module *m, SpvOp op, uint32_t *at, kp_reflect_instruction *i) {
    while (*at < m->function_at && kp_reflect_module_next(m, at, i)) {
        if (i->op == op)
            return true;
    }
    return false;
}

static size_t count_of(const kp_reflect_module *m, SpvOp op) {
    size_t count = 0;
    kp_reflect_instruction i;
    for (uint32_t at = HEADER_WORDS; next_of(m, op, &at, &i);)
        count++;
    return count;
}

static void read_entries(job *j) {
    size_t count = count_of(j->m, SpvOpEntryPoint), n = 0;
    kp_reflect_entry *entries = keep(j, count, sizeof *entries);
    j->functions = kp_reflect_module_alloc(j->m, j->m->scratch, count, sizeof *j->functions);
    uint32_t workgroup_size = find_workgroup_size(j->m);
    kp_reflect_instruction i;
    for (uint32_t at = HEADER_WORDS; next_of(j->m, SpvOpEntryPoint, &at, &i); n++) {
        kp_reflect_entry *e = &entries[n];
        e->model = kp_reflect_operand(&i, 1);
        e->compute = e->model == SpvExecutionModelGLCompute;
        e->name = kp_reflect_module_text(j->m, &i, 3);
        j->functions[n] = kp_reflect_operand(&i, 2);
        local_size(&j->types, e->compute ? workgroup_size : 0, j->functions[n], e->local_size, e->local_size_spec);
    }
    j->h->data.entries = entries;
    j->h->data.entry_count = count;
}

static const char *model_name(uint32_t model) {
    static const char *const names[] = {
        "vertex", "tessellation control", "tessellation evaluation", "geometry", "fragment", "compute"};
    return model < sizeof names / sizeof *names ? names[model] : model == SpvExecutionModelKernel ? "OpenCL" : "other";
}

// "'main', 'blur' (fragment) and 3 more", in the scratch.
static const char *list_entries(job *j) {
    kp_str text = {0};
    const kp_reflect *r = &j->h->data;
    for (size_t k = 0; k < r->entry_count && k < MOST_NAMES; k++) {
        const kp_reflect_entry *e = &r->entries[k];
        kp_str_format(&text, "%s'%.64s'", k == 0 ? "" : ", ", e->name);
        if (!e->compute)
            kp_str_format(&text, " (%s)", model_name(e->model));
    }
    if (r->entry_count > MOST_NAMES)
        kp_str_format(&text, " and %zu more", r->entry_count - MOST_NAMES);
    if (r->entry_count == 0)
        kp_str_format(&text, "none");
    char *list = text.failed ? NULL : kp_arena_text(j->m->scratch, text.data, text.length);
    kp_str_free(&text);
    return list != NULL ? list : "?";
}

// The compute entry point called `name`, or NULL.
static const kp_reflect_entry *find_entry(const kp_reflect *r, const char *name) {
    for (size_t k = 0; k < r->entry_count; k++) {
        if (r->entries[k].compute && strcmp(r->entries[k].name, name) == 0)
            return &r->entries[k];
    }
    return NULL;
}

static const kp_reflect_entry *only_entry(job *j) {
    const kp_reflect *r = &j->h->data;
    const kp_reflect_entry *only = NULL;
    for (size_t k = 0; k < r->entry_count; k++) {
        if (r->entries[k].compute && only != NULL)
            kp_reflect_module_fail(j->m, KP_ERROR_ARGUMENT, "several entry points and none is 'main', name one of: %s",
                                   list_entries(j));
        only = r->entries[k].compute ? &r->entries[k] : only;
    }
    return only;
}

static void choose_entry(job *j, const char *name) {
    kp_reflect *r = &j->h->data;
    bool any = false;
    for (size_t k = 0; k < r->entry_count; k++)
        any |= r->entries[k].compute;
    if (!any)
        kp_reflect_module_fail(j->m, KP_ERROR_SPIRV, "no compute entry point, the module has: %s", list_entries(j));
    r->entry = find_entry(r, name != NULL ? name : "main");
    if (r->entry == NULL && name == NULL)
        r->entry = only_entry(j);
    if (r->entry == NULL)
        kp_reflect_module_fail(j->m, KP_ERROR_ARGUMENT, "no compute entry point '%.64s', the module has: %s", name,
                               list_entries(j));
}

// ---------------------------------------------------------------------------------------------------------------------
// Push constants, shared memory, specialization constants
// ---------------------------------------------------------------------------------------------------------------------

// The struct of the push constants that an entry point uses, or NONE. (Vulkan allows one variable.)
static uint32_t push_block(const kp_reflect_module *m, const kp_reflect_access *access) {
    for (uint32_t row = 0; row < m->global_count; row++) {
        if (access->flags[row] == 0 || kp_reflect_types_storage_class(m, row) != SpvStorageClassPushConstant)
            continue;
        uint32_t type = kp_reflect_types_pointee(m, row);
        if (type != KP_REFLECT_NONE && kp_reflect_module_def(m, type).op == SpvOpTypeStruct)
            return type;
    }
    return KP_REFLECT_NONE;
}

static void read_push(job *j, const kp_reflect_access *access) {
    kp_reflect *r = &j->h->data;
    uint32_t type = push_block(j->m, access);
    if (type == KP_REFLECT_NONE)
        return;
    uint64_t size = j->types.rows[type].laid;
    if (size > UINT32_MAX - 3)
        kp_reflect_module_fail(j->m, KP_ERROR_SPIRV, "the push constants have no size that can be computed");
    uint32_t offset = UINT32_MAX, count = kp_reflect_module_def(j->m, type).count - 2;
    kp_reflect_member_info *list = keep(j, count, sizeof *list);
    for (uint32_t k = 0; k < count; k++) {
        kp_reflect_member_info info = {.offset = j->m->members[j->m->defs[type].members + k].offset};
        offset = info.offset < offset ? info.offset : offset;
        uint32_t row = kp_reflect_types_before(j->m, type, k + 2);
        if (row == KP_REFLECT_NONE || info.offset == KP_REFLECT_NONE ||
            !kp_reflect_types_element(j->m, row, &info.dtype, &info.components))
            continue;
        info.name = kp_reflect_module_member_name(j->m, type, k);
        list[r->push_count++] = info;
    }
    r->push = list;
    r->push_offset = size != 0 && offset < size ? offset : 0;
    r->push_size = (uint32_t)((size + 3) / 4 * 4);
}

// Workgroup variables lie one behind the other; blocks with a layout of their own lie on top of each other.
static uint64_t shared_bytes(const kp_reflect_types *t, const uint8_t *used) {
    const kp_reflect_module *m = t->module;
    uint64_t sum = 0, blocks = 0;
    for (uint32_t row = 0; row < m->global_count; row++) {
        if (used[row] == 0 || kp_reflect_types_storage_class(m, row) != SpvStorageClassWorkgroup)
            continue;
        uint32_t type = kp_reflect_types_pointee(m, row);
        if (type == KP_REFLECT_NONE)
            continue;
        const kp_reflect_row *r = &t->rows[type];
        if (m->defs[type].block)
            blocks = r->laid > blocks ? r->laid : blocks;
        else
            sum = kp_reflect_types_sum(sum, r->tight);
    }
    return kp_reflect_types_sum(sum, blocks);
}

static int by_spec_id(const void *a, const void *b) {
    uint32_t x = ((const kp_reflect_spec *)a)->id, y = ((const kp_reflect_spec *)b)->id;
    return x < y ? -1 : x > y;
}

static bool is_spec(const kp_reflect_module *m, uint32_t row) {
    SpvOp op = kp_reflect_module_def(m, row).op;
    return m->defs[row].spec != KP_REFLECT_NONE &&
           (op == SpvOpSpecConstant || op == SpvOpSpecConstantTrue || op == SpvOpSpecConstantFalse);
}

static void read_specs(job *j) {
    kp_reflect *r = &j->h->data;
    size_t most = 0, n = 0;
    for (uint32_t row = 0; row < j->m->global_count; row++)
        most += is_spec(j->m, row);
    kp_reflect_spec *specs = keep(j, most, sizeof *specs);
    for (uint32_t row = 0; row < j->m->global_count; row++) {
        uint32_t type = is_spec(j->m, row) ? kp_reflect_module_type(j->m, row) : KP_REFLECT_NONE, components;
        kp_reflect_spec s = {.id = j->m->defs[row].spec, .value = j->types.rows[row].value};
        if (type == KP_REFLECT_NONE || !kp_reflect_types_element(j->m, type, &s.dtype, &components) || components != 1)
            continue;
        s.name = kp_reflect_module_name(j->m, row);
        specs[n++] = s;
    }
    qsort(specs, n, sizeof *specs, by_spec_id);
    r->specs = specs;
    for (size_t k = 0; k < n; k++) {
        if (r->spec_count == 0 || specs[r->spec_count - 1].id != specs[k].id)
            specs[r->spec_count++] = specs[k];
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Capabilities and extensions
// ---------------------------------------------------------------------------------------------------------------------

static void read_head(job *j) {
    kp_reflect *r = &j->h->data;
    uint32_t *capabilities = keep(j, count_of(j->m, SpvOpCapability), sizeof *capabilities);
    const char **extensions = keep(j, count_of(j->m, SpvOpExtension), sizeof *extensions);
    kp_reflect_instruction i;
    for (uint32_t at = HEADER_WORDS; next_of(j->m, SpvOpCapability, &at, &i);)
        capabilities[r->capability_count++] = kp_reflect_operand(&i, 1);
    for (uint32_t at = HEADER_WORDS; next_of(j->m, SpvOpExtension, &at, &i);)
        extensions[r->extension_count++] = kp_reflect_module_text(j->m, &i, 1);
    r->capabilities = capabilities;
    r->extensions = extensions;
    r->words = j->m->words;
    r->word_count = j->m->word_count;
    r->version = j->m->words[1];
}

// ---------------------------------------------------------------------------------------------------------------------
// The launch contract (base/launch.h)
// ---------------------------------------------------------------------------------------------------------------------

static bool has_launch_specs(const kp_reflect *r) {
    for (uint32_t id = KP_LAUNCH_SPEC_LOCAL_X; id <= KP_LAUNCH_SPEC_FOLDED; id++) {
        const kp_reflect_spec *s = kp_reflect_find_spec(r, id);
        bool is_flag = id == KP_LAUNCH_SPEC_ADJACENT || id == KP_LAUNCH_SPEC_FOLDED;
        if (s == NULL || s->dtype != (is_flag ? KP_BOOL : KP_U32) || s->value != (is_flag ? 0 : 1))
            return false;
    }
    return true;
}

static bool has_launch_local_size(const kp_reflect_entry *e) {
    for (uint32_t axis = 0; axis < 3; axis++) {
        if (e->local_size_spec[axis] != (uint32_t)KP_LAUNCH_SPEC_LOCAL_X + axis)
            return false;
    }
    return true;
}

// Are the last six members of the push constants the uints of kp_launch_push? Their place goes to *offset.
static bool has_launch_push(const job *j, const kp_reflect_access *access, uint32_t *offset) {
    const kp_reflect_module *m = j->m;
    uint32_t type = push_block(m, access);
    if (type == KP_REFLECT_NONE)
        return false;
    enum { WORDS = sizeof(kp_launch_push) / 4 };
    kp_reflect_instruction i = kp_reflect_module_def(m, type);
    if (i.count < 2 + WORDS)
        return false;
    uint32_t first = i.count - WORDS; // operand of the first of the six
    *offset = m->members[m->defs[type].members + first - 2].offset;
    for (uint32_t k = 0; k < WORDS; k++) {
        uint32_t member = kp_reflect_types_before(m, type, first + k), components;
        kp_dtype dtype;
        if (member == KP_REFLECT_NONE || !kp_reflect_types_element(m, member, &dtype, &components) || dtype != KP_U32 ||
            components != 1 || m->members[m->defs[type].members + first - 2 + k].offset != *offset + 4 * k)
            return false;
    }
    return *offset % 4 == 0 && j->types.rows[type].laid == (uint64_t)*offset + sizeof(kp_launch_push);
}

// ---------------------------------------------------------------------------------------------------------------------
// What the module tells (base/launch.h)
// ---------------------------------------------------------------------------------------------------------------------

// The number at *at, and the end of its line behind it; *at moves behind that. UINT32_MAX, and *at NULL: there is none.
static uint32_t number_line(const char **at) {
    uint64_t value = 0;
    const char *c = *at;
    for (; c != NULL && *c >= '0' && *c <= '9' && value < UINT32_MAX; c++)
        value = value * 10 + (uint32_t)(*c - '0');
    bool good = c != NULL && c != *at && *c == '\n' && value < UINT32_MAX;
    *at = good ? c + 1 : NULL;
    return good ? (uint32_t)value : UINT32_MAX;
}

static bool read_site(job *j, const char *text, kp_reflect_site *site) {
    static const char start[] = KP_LAUNCH_SITE;
    if (strncmp(text, start, sizeof start - 1) != 0)
        return false;
    const char *at = text + sizeof start - 1;
    site->kind = number_line(&at);
    site->line = number_line(&at);
    site->column = number_line(&at);
    uint32_t length = number_line(&at);
    if (at == NULL || site->kind >= KP_LAUNCH_SITE_COUNT || strlen(at) < length)
        return false;
    const char *kernel = at + length, *end = strchr(kernel, '\n');
    if (end == NULL)
        return false;
    char *words = kp_reflect_module_alloc(j->m, j->m->keep, strlen(at) + 2, 1);
    site->text = memcpy(words, at, length);
    site->kernel = memcpy(words + length + 1, kernel, (size_t)(end - kernel));
    site->file = end + 1;
    return true;
}

static void read_sites(job *j) {
    kp_reflect *r = &j->h->data;
    kp_reflect_site *sites = keep(j, count_of(j->m, SpvOpString), sizeof *sites);
    kp_reflect_instruction i;
    r->sites = sites;
    for (uint32_t at = HEADER_WORDS; next_of(j->m, SpvOpString, &at, &i);) {
        const char *text = kp_reflect_module_text(j->m, &i, 2);
        if (!read_site(j, text, &sites[r->site_count]))
            continue;
        r->prints |= sites[r->site_count].kind == KP_LAUNCH_SITE_PRINT;
        r->site_count++;
    }
}

static bool read_sampler(const char *text, kp_reflect_binding *out) {
    static const char start[] = KP_LAUNCH_SAMPLER;
    if (strncmp(text, start, sizeof start - 1) != 0)
        return false;
    const char *at = text + sizeof start - 1;
    out->set = number_line(&at);
    out->binding = number_line(&at);
    out->filter = number_line(&at);
    out->address_mode = number_line(&at);
    out->unnormalized = number_line(&at) == 1;
    return at != NULL && out->filter <= 2 && out->address_mode <= 4;
}

// How the bindings are sampled.
static void read_samplers(job *j, kp_reflect_binding *bindings, size_t count) {
    kp_reflect_binding found = {0};
    kp_reflect_instruction i;
    size_t samplers = 0;
    for (size_t k = 0; k < count; k++)
        samplers += bindings[k].kind == KP_REFLECT_COMBINED_IMAGE_SAMPLER;
    if (samplers == 0)
        return;
    for (uint32_t at = HEADER_WORDS; next_of(j->m, SpvOpString, &at, &i);) {
        if (!read_sampler(kp_reflect_module_text(j->m, &i, 2), &found))
            continue;
        for (size_t k = 0; k < count; k++) {
            if (kp_reflect_bindings_order(&bindings[k], &found) != 0 ||
                bindings[k].kind != KP_REFLECT_COMBINED_IMAGE_SAMPLER)
                continue;
            bindings[k].filter = found.filter;
            bindings[k].address_mode = found.address_mode;
            bindings[k].unnormalized = found.unnormalized;
        }
    }
}

// Takes the buffer out of the bindings, where it is the last.
static void read_report(job *j) {
    kp_reflect *r = &j->h->data;
    const kp_reflect_spec *place = kp_reflect_find_spec(r, KP_LAUNCH_SPEC_REPORT);
    if (place == NULL || r->binding_count == 0)
        return;
    const kp_reflect_binding *last = &r->bindings[r->binding_count - 1];
    r->report_set = (uint32_t)place->value >> 16;
    r->report_binding = (uint32_t)place->value & 0xFFFF;
    if (last->set != r->report_set || last->binding != r->report_binding || last->kind != KP_REFLECT_STORAGE_BUFFER)
        return;
    r->reports = true;
    r->binding_count--;
    read_sites(j);
}

static bool same_bindings(const kp_reflect *r, const kp_reflect_binding *others, size_t count) {
    if (count != r->binding_count)
        return false;
    for (size_t k = 0; k < count; k++) {
        const kp_reflect_binding *a = &r->bindings[k], *b = &others[k];
        if (kp_reflect_bindings_order(a, b) != 0 || a->kind != b->kind || a->reads != b->reads ||
            a->writes != b->writes)
            return false;
    }
    return true;
}

// Whether an entry point has what the first one has, and the launch's push constants behind; then r->launch_push_offset
// says where.
static bool takes_launch_push(job *j, const kp_reflect_entry *entry) {
    kp_reflect *r = &j->h->data;
    kp_reflect_access access = kp_reflect_access_find(j->m, j->functions[entry - r->entries]);
    uint32_t offset;
    if (!has_launch_push(j, &access, &offset) || offset < r->push_size)
        return false;
    size_t count;
    const kp_reflect_binding *bindings = kp_reflect_bindings_read(&j->types, access.flags, &count);
    if (!same_bindings(r, bindings, count - (r->reports && count != 0)))
        return false;
    r->launch_push_offset = offset;
    return true;
}

static void read_launch(job *j) {
    kp_reflect *r = &j->h->data;
    const kp_reflect_entry *blocks = find_entry(r, KP_LAUNCH_BLOCKS_ENTRY);
    if (blocks == NULL || strcmp(r->entry->name, KP_LAUNCH_ENTRY) != 0 || !has_launch_specs(r) ||
        !has_launch_local_size(r->entry) || !has_launch_local_size(blocks))
        return;
    r->regroupable = takes_launch_push(j, blocks);
}

// The same for a kernel that works in groups.
static void read_groups(job *j) {
    kp_reflect *r = &j->h->data;
    const kp_reflect_entry *groups = find_entry(r, KP_LAUNCH_GROUPS_ENTRY);
    if (groups == NULL || strcmp(r->entry->name, KP_LAUNCH_ENTRY) != 0 ||
        memcmp(groups->local_size, r->entry->local_size, sizeof groups->local_size) != 0)
        return;
    r->foldable = takes_launch_push(j, groups);
}

// ---------------------------------------------------------------------------------------------------------------------
// The doors
// ---------------------------------------------------------------------------------------------------------------------

static void read_all(job *j) {
    kp_reflect *r = &j->h->data;
    kp_reflect_module_read(j->m, j->desc->bytes, j->desc->size);
    kp_reflect_types_evaluate(&j->types);
    read_head(j);
    read_specs(j);
    read_entries(j);
    choose_entry(j, j->desc->entry);
    j->h->function = j->functions[r->entry - r->entries];
    kp_reflect_access access = kp_reflect_access_find(j->m, j->h->function);
    kp_reflect_binding *bindings = kp_reflect_bindings_read(&j->types, access.flags, &r->binding_count);
    read_samplers(j, bindings, r->binding_count);
    r->bindings = bindings;
    read_report(j);
    r->set_count = r->binding_count != 0 ? r->bindings[r->binding_count - 1].set + 1 : 0;
    r->loops = access.loops;
    r->subgroups = kp_reflect_has_capability(r, SpvCapabilityGroupNonUniform);
    for (size_t k = 0; k < r->capability_count; k++) // those that imply it
        r->subgroups |= r->capabilities[k] >= SpvCapabilityGroupNonUniform &&
                        r->capabilities[k] <= SpvCapabilityGroupNonUniformQuad;
    r->extended_subgroups = access.extended_subgroups;
    r->buffer_atomics64 = access.buffer_atomics64;
    r->shared_atomics64 = access.shared_atomics64;
    r->buffer_float_adds = access.buffer_float_adds;
    r->shared_float_adds = access.shared_float_adds;
    read_push(j, &access);
    r->shared_bytes = shared_bytes(&j->types, access.flags);
    read_launch(j);
    if (!r->regroupable)
        read_groups(j);
    j->h->used = keep(j, j->m->global_count, 1);
    memcpy(j->h->used, access.flags, j->m->global_count);
}

static void compute_sizes(job *j) {
    uint32_t spec[3];
    kp_reflect_types_evaluate(&j->types);
    local_size(&j->types, find_workgroup_size(j->m), j->h->function, j->sizes->local_size, spec);
    j->sizes->shared_bytes = shared_bytes(&j->types, j->h->used);
}

// One call: the step, or its failure.
static kp_result run(job *j, void (*step)(job *)) {
    if (setjmp(j->m->escape) == 0)
        step(j);
    return j->m->result;
}

kp_result kp_reflect_create(const kp_reflect_desc *desc, kp_reflect **out) {
    const char *label = desc->label != NULL ? desc->label : "SPIR-V";
    if (desc->bytes == NULL && desc->size != 0)
        return kp_error_set(KP_ERROR_ARGUMENT, "%s: no module", label);
    holder *h = kp_alloc_zero(1, sizeof *h);
    if (h == NULL)
        return kp_error_host_memory(sizeof *h);
    kp_arena scratch = {0};
    h->module = (kp_reflect_module){.label = label, .keep = &h->keep, .scratch = &scratch};
    job j = {.h = h, .m = &h->module, .types = {.module = &h->module}, .desc = desc};
    kp_result result = run(&j, read_all);
    kp_arena_free(&scratch);
    h->module.label = NULL;
    if (result == KP_OK)
        *out = &h->data;
    else
        kp_reflect_destroy(&h->data);
    return result;
}

void kp_reflect_destroy(kp_reflect *reflect) {
    if (reflect == NULL)
        return;
    holder *h = (holder *)(void *)reflect;
    kp_arena_free(&h->keep);
    kp_alloc_free(h);
}

kp_result kp_reflect_specialize(const kp_reflect *reflect, const kp_reflect_value *values, size_t value_count,
                                kp_reflect_sizes *out) {
    kp_reflect_value *sorted = kp_alloc_zero(value_count, sizeof *sorted);
    if (sorted == NULL)
        return kp_error_host_memory(value_count * sizeof *sorted);
    if (value_count != 0)
        memcpy(sorted, values, value_count * sizeof *sorted);
    qsort(sorted, value_count, sizeof *sorted, kp_reflect_types_order);
    holder h = *(const holder *)(const void *)reflect; // the tables that it points to are read, not changed
    kp_arena scratch = {0};
    h.module.label = "SPIR-V";
    h.module.keep = h.module.scratch = &scratch;
    kp_reflect_sizes sizes;
    job j = {.h = &h, .m = &h.module, .sizes = &sizes};
    j.types = (kp_reflect_types){.module = &h.module, .values = sorted, .value_count = value_count};
    kp_result result = run(&j, compute_sizes);
    kp_arena_free(&scratch);
    kp_alloc_free(sorted);
    if (result == KP_OK)
        *out = sizes;
    return result;
}

const kp_reflect_spec *kp_reflect_find_spec(const kp_reflect *reflect, uint32_t id) {
    kp_reflect_spec key = {.id = id};
    return reflect->spec_count != 0 ? bsearch(&key, reflect->specs, reflect->spec_count, sizeof key, by_spec_id) : NULL;
}

bool kp_reflect_has_capability(const kp_reflect *reflect, uint32_t capability) {
    for (size_t k = 0; k < reflect->capability_count; k++) {
        if (reflect->capabilities[k] == capability)
            return true;
    }
    return false;
}
