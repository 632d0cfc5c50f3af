// See faults.h.
#include "faults.h"

#include "base/alloc.h"
#include "base/log.h"
#include "loop_guard.h"
#include "op.h"
#include "prints.h"

#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 256 }; // no device wants storage buffers aligned to more

// ---------------------------------------------------------------------------------------------------------------------
// Parts
// ---------------------------------------------------------------------------------------------------------------------

static uint32_t print_room(const kp_algorithm *algorithm) {
    return kp_algorithm_reflect(algorithm)->prints ? algorithm->manager->print_words : 0;
}

// Bytes that a dispatch needs; 0 when its module tells nothing.
static size_t part_size(const kp_algorithm *algorithm) {
    if (!algorithm->kernel->module->reports)
        return 0;
    size_t words = sizeof(kp_loop_guard) / 4;
    if (kp_algorithm_reflect(algorithm)->reports)
        words = (size_t)KP_LAUNCH_REPORT_PRINTS + print_room(algorithm);
    return (words * 4 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static kp_result reserve(kp_faults *faults, kp_device *device, size_t count, size_t bytes) {
    if (count > faults->capacity || bytes > faults->buffer.size) {
        kp_faults_destroy(faults, device);
        faults->parts = kp_alloc_zero(count, sizeof *faults->parts);
        if (faults->parts == NULL)
            return kp_error_host_memory(count * sizeof *faults->parts);
        kp_result result = kp_buffer_create(device, KP_BUFFER_HOST_SHARED, bytes, "faults", &faults->buffer);
        if (result != KP_OK)
            return result;
        faults->capacity = count;
    }
    memset(faults->buffer.mapped, 0, bytes);
    return KP_OK;
}

kp_result kp_faults_prepare(kp_faults *faults, kp_device *device, kp_op *const *ops, size_t count) {
    size_t needed = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        size_t size = ops[i]->algorithm != NULL ? part_size(ops[i]->algorithm) : 0;
        needed += size != 0;
        bytes += size;
    }
    faults->count = faults->used = 0;
    return needed != 0 ? reserve(faults, device, needed, bytes) : KP_OK;
}

void kp_faults_destroy(kp_faults *faults, kp_device *device) {
    kp_buffer_destroy(device, &faults->buffer);
    kp_alloc_free(faults->parts);
    *faults = (kp_faults){0};
}

VkDescriptorBufferInfo kp_faults_take(kp_faults *faults, const kp_algorithm *algorithm) {
    size_t size = part_size(algorithm);
    VkDescriptorBufferInfo info = {.buffer = faults->buffer.handle, .offset = faults->used, .range = size};
    faults->parts[faults->count++] =
        (kp_faults_part){.algorithm = algorithm, .offset = faults->used, .room = print_room(algorithm)};
    faults->used += size;
    return info;
}

static uint32_t *host_side(const kp_faults *faults, const kp_faults_part *part) {
    return (uint32_t *)(void *)((unsigned char *)faults->buffer.mapped + part->offset);
}

void kp_faults_arm(const kp_faults *faults) {
    static const kp_loop_guard guard = {.rounds = KP_LOOP_GUARD_TURNS, .again = KP_LOOP_GUARD_TURNS};
    for (size_t i = 0; i < faults->count; i++) {
        const kp_faults_part *part = &faults->parts[i];
        uint32_t *words = host_side(faults, part);
        memset(words, 0, KP_LAUNCH_REPORT_RECORDS * 4);
        memcpy(words, &guard, sizeof guard);
        words[KP_LAUNCH_REPORT_FIRST] = UINT32_MAX;
        words[KP_LAUNCH_REPORT_ROOM] = part->room;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Prints
// ---------------------------------------------------------------------------------------------------------------------

static void log_lines(const char *text) {
    for (const char *end; *text != '\0'; text = *end == '\n' ? end + 1 : end) {
        end = strchr(text, '\n');
        if (end == NULL)
            end = text + strlen(text);
        kp_log_write(KP_LOG_INFO, "%.*s", (int)(end - text), text);
    }
}

static void hand_on(const kp_algorithm *algorithm, const kp_str *text) {
    const kp_manager *manager = algorithm->manager;
    if (text->failed)
        kp_log_write(KP_LOG_WARNING, "algorithm '%s': out of memory for what it printed", algorithm->label);
    else if (text->length != 0 && manager->print != NULL)
        manager->print(manager->print_payload, text->data, text->length);
    else if (text->length != 0)
        log_lines(text->data);
}

static void show_prints(const kp_faults_part *part, uint32_t *words) {
    uint32_t used = words[KP_LAUNCH_REPORT_PRINTED], dropped = words[KP_LAUNCH_REPORT_DROPPED];
    kp_str text = {0};
    if (used > part->room)
        used = part->room;
    if (used == 0 && dropped == 0)
        return;
    if (!kp_prints_format(kp_algorithm_reflect(part->algorithm), words + KP_LAUNCH_REPORT_PRINTS, used,
                          part->algorithm->manager->print_places, &text))
        text.failed = true;
    if (dropped != 0)
        kp_str_format(&text, "[%s: %u more print%s found no room in %u bytes]\n", part->algorithm->label,
                      (unsigned)dropped, dropped == 1 ? "" : "s", (unsigned)part->room * 4);
    memset(words + KP_LAUNCH_REPORT_PRINTS, 0, (size_t)used * 4); // a record that is not written must not look so
    hand_on(part->algorithm, &text);
    kp_str_free(&text);
}

// ---------------------------------------------------------------------------------------------------------------------
// Faults
// ---------------------------------------------------------------------------------------------------------------------

static kp_result cut(const kp_algorithm *algorithm) {
    return kp_error_set(KP_ERROR_LIMIT,
                        "algorithm '%s': the driver, lavapipe, ends the loops of an invocation after %d rounds in all, "
                        "which were not enough; its results are wrong",
                        algorithm->label, KP_LOOP_GUARD_ROUNDS);
}

// The record of the invocation that comes first; if that was overwritten, the first one that is there.
static const uint32_t *first_record(const uint32_t *words) {
    uint32_t count = words[KP_LAUNCH_REPORT_FAULTS];
    const uint32_t *first = NULL;
    for (uint32_t i = 0; i < count && i < KP_LAUNCH_FAULT_COUNT; i++) {
        const uint32_t *record = words + KP_LAUNCH_REPORT_RECORDS + KP_LAUNCH_FAULT_WORDS * i;
        if (first == NULL || record[1] < first[1])
            first = record;
    }
    return first;
}

// "7", "(7, 2)"
static void write_place(const int32_t *place, int axes, char *out, size_t size) {
    size_t used = (size_t)snprintf(out, size, "%s%d", axes > 1 ? "(" : "", (int)place[0]);
    for (int i = 1; i < axes; i++)
        used += (size_t)snprintf(out + used, size - used, ", %d", (int)place[i]);
    if (axes > 1)
        snprintf(out + used, size - used, ")");
}

static kp_result pixel_fault(const kp_reflect_site *site, const uint32_t *data, const char *at) {
    char place[48], size[48];
    int32_t numbers[6];
    int axes = site->text[0] - '0';
    memcpy(numbers, data, sizeof numbers);
    if (axes < 1 || axes > 3)
        return kp_error_set(KP_ERROR_INDEX, "%s:%u: a pixel out of range, %s", site->file, (unsigned)site->line, at);
    write_place(numbers, axes, place, sizeof place);
    write_place(numbers + 3, axes, size, sizeof size);
    return kp_error_set(KP_ERROR_INDEX, "%s:%u:%u: pixel %s of image '%s' is out of range for size %s, %s", site->file,
                        (unsigned)site->line, (unsigned)site->column, place, site->text + 1, size, at);
}

static kp_result fault(const kp_algorithm *algorithm, const uint32_t *record) {
    const kp_reflect *reflect = kp_algorithm_reflect(algorithm);
    if (record == NULL || record[0] >= reflect->site_count)
        return kp_error_set(KP_ERROR_INDEX, "algorithm '%s': a fault that it cannot tell", algorithm->label);
    const kp_reflect_site *site = &reflect->sites[record[0]];
    char at[160];
    snprintf(at, sizeof at, "in invocation (%u, %u, %u) of kernel '%.100s'", (unsigned)record[2], (unsigned)record[3],
             (unsigned)record[4], site->kernel);
    if (site->kind == KP_LAUNCH_SITE_DIVISION)
        return kp_error_set(KP_ERROR_DIVISION, "%s:%u:%u: integer division or modulo by zero, %s", site->file,
                            (unsigned)site->line, (unsigned)site->column, at);
    if (site->kind == KP_LAUNCH_SITE_VALUE || site->kind == KP_LAUNCH_SITE_OVERFLOW)
        return kp_error_set(site->kind == KP_LAUNCH_SITE_VALUE ? KP_ERROR_ARGUMENT : KP_ERROR_OVERFLOW,
                            "%s:%u:%u: %s, %s", site->file, (unsigned)site->line, (unsigned)site->column, site->text,
                            at);
    if (site->kind == KP_LAUNCH_SITE_ASSERT)
        return kp_error_set(KP_ERROR_ASSERT, "%s:%u:%u: assertion failed%s%s, %s", site->file, (unsigned)site->line,
                            (unsigned)site->column, site->text[0] != '\0' ? ": " : "", site->text, at);
    const uint32_t *data = record + KP_LAUNCH_FAULT_DATA;
    if (site->kind == KP_LAUNCH_SITE_PIXEL)
        return pixel_fault(site, data, at);
    long long index = (long long)(data[0] | (uint64_t)data[1] << 32);
    const char *of = site->text[0] != '\0' ? " of '" : "", *end = site->text[0] != '\0' ? "'" : "";
    return kp_error_set(KP_ERROR_INDEX, "%s:%u:%u: index %lld%s%s%s is out of range for size %u, %s", site->file,
                        (unsigned)site->line, (unsigned)site->column, index, of, site->text, end, (unsigned)data[2],
                        at);
}

static kp_result check_part(const kp_faults_part *part, const uint32_t *words) {
    kp_loop_guard guard;
    memcpy(&guard, words, sizeof guard);
    if (guard.cut != 0)
        return cut(part->algorithm);
    bool faulted = kp_algorithm_reflect(part->algorithm)->reports && words[KP_LAUNCH_REPORT_FIRST] != UINT32_MAX;
    return faulted ? fault(part->algorithm, first_record(words)) : KP_OK;
}

kp_result kp_faults_check(const kp_faults *faults) {
    for (size_t i = 0; i < faults->count; i++) {
        if (faults->parts[i].room != 0)
            show_prints(&faults->parts[i], host_side(faults, &faults->parts[i]));
    }
    for (size_t i = 0; i < faults->count; i++) {
        kp_result result = check_part(&faults->parts[i], host_side(faults, &faults->parts[i]));
        if (result != KP_OK)
            return result;
    }
    return KP_OK;
}
