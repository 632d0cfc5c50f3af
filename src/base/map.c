// See map.h. Open addressing with linear probing, at most three quarters full; removal shifts the run back, so there
// are no tombstones.
#include "map.h"

#include "alloc.h"

#include <string.h>

uint64_t kp_map_hash(const void *bytes, size_t size) {
    const unsigned char *b = bytes;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ b[i]) * 0x100000001b3u;
    return hash;
}

// The slot that holds the key, or the free slot where it belongs. The map has a free slot.
static size_t find(const kp_map *map, const void *key, size_t key_size, uint64_t hash) {
    size_t mask = map->capacity - 1;
    size_t i = (size_t)hash & mask;
    while (map->slots[i].key != NULL) {
        const kp_map_entry *e = &map->slots[i];
        if (e->hash == hash && e->key_size == key_size && memcmp(e->key, key, key_size) == 0)
            break;
        i = (i + 1) & mask;
    }
    return i;
}

static bool grow(kp_map *map) {
    kp_map bigger = {.capacity = map->capacity == 0 ? 16 : map->capacity * 2, .count = map->count};
    bigger.slots = kp_alloc_zero(bigger.capacity, sizeof *bigger.slots);
    if (bigger.slots == NULL)
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        const kp_map_entry *e = &map->slots[i];
        if (e->key != NULL)
            bigger.slots[find(&bigger, e->key, e->key_size, e->hash)] = *e;
    }
    kp_alloc_free(map->slots);
    *map = bigger;
    return true;
}

void *kp_map_get(const kp_map *map, const void *key, size_t key_size) {
    if (map->capacity == 0)
        return NULL;
    return map->slots[find(map, key, key_size, kp_map_hash(key, key_size))].value;
}

bool kp_map_set(kp_map *map, const void *key, size_t key_size, void *value) {
    if ((map->count + 1) * 4 > map->capacity * 3 && !grow(map))
        return false;
    uint64_t hash = kp_map_hash(key, key_size);
    kp_map_entry *e = &map->slots[find(map, key, key_size, hash)];
    if (e->key == NULL) {
        void *copy = kp_alloc_new(key_size);
        if (copy == NULL)
            return false;
        memcpy(copy, key, key_size);
        *e = (kp_map_entry){.key = copy, .key_size = key_size, .hash = hash};
        map->count++;
    }
    e->value = value;
    return true;
}

void *kp_map_remove(kp_map *map, const void *key, size_t key_size) {
    if (map->capacity == 0)
        return NULL;
    size_t mask = map->capacity - 1;
    size_t hole = find(map, key, key_size, kp_map_hash(key, key_size));
    if (map->slots[hole].key == NULL)
        return NULL;
    void *value = map->slots[hole].value;
    kp_alloc_free(map->slots[hole].key);
    for (size_t i = (hole + 1) & mask; map->slots[i].key != NULL; i = (i + 1) & mask) {
        size_t home = (size_t)map->slots[i].hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) { // its home is at or before the hole
            map->slots[hole] = map->slots[i];
            hole = i;
        }
    }
    map->slots[hole] = (kp_map_entry){0};
    map->count--;
    return value;
}

const kp_map_entry *kp_map_next(const kp_map *map, const kp_map_entry *entry) {
    size_t i = entry == NULL ? 0 : (size_t)(entry - map->slots) + 1;
    for (; i < map->capacity; i++) {
        if (map->slots[i].key != NULL)
            return &map->slots[i];
    }
    return NULL;
}

void kp_map_free(kp_map *map) {
    for (size_t i = 0; i < map->capacity; i++)
        kp_alloc_free(map->slots[i].key);
    kp_alloc_free(map->slots);
    *map = (kp_map){0};
}
