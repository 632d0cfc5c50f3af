// A hash map from bytes to a pointer. Keys are compared whole, so equal hashes never mix two entries up; they are
// copied.
#ifndef KP_SRC_BASE_MAP_H
#define KP_SRC_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kp_map_entry {
    void *key; // NULL: free slot
    size_t key_size;
    uint64_t hash;
    void *value;
} kp_map_entry;

typedef struct kp_map {
    kp_map_entry *slots;
    size_t count, capacity; // capacity is a power of two, or 0
} kp_map;

// A zeroed kp_map is a good empty one.
void *kp_map_get(const kp_map *map, const void *key, size_t key_size); // NULL when absent
bool kp_map_set(kp_map *map, const void *key, size_t key_size,
                void *value);                                       // adds or replaces; false: out of memory, unchanged
void *kp_map_remove(kp_map *map, const void *key, size_t key_size); // the value that was there, or NULL
const kp_map_entry *kp_map_next(const kp_map *map,
                                const kp_map_entry *entry); // NULL starts; NULL ends. No change meanwhile
void kp_map_free(kp_map *map);                              // the keys, not what the values point to

uint64_t kp_map_hash(const void *bytes, size_t size); // FNV-1a, 64 bits

#endif
