// See lookup.h. Open addressing, at most half full; names are interned, so pointers are compared.
#include "lookup.h"

#include "lexer.h"

enum { FIRST_SLOTS = 16 };

typedef struct kp_lookup_slot {
    const kp_name *name; // NULL: free
    int32_t index;
} slot;

// The slot that has the name, or the free one where it belongs.
static slot *find(const kp_lookup *lookup, const kp_name *name) {
    uint32_t i = name->hash & (lookup->capacity - 1);
    while (lookup->slots[i].name != NULL && lookup->slots[i].name != name)
        i = (i + 1) & (lookup->capacity - 1);
    return &lookup->slots[i];
}

static void grow(kp_unit *unit, kp_lookup *lookup) {
    const kp_lookup old = *lookup;
    lookup->capacity = old.capacity == 0 ? FIRST_SLOTS : old.capacity * 2;
    lookup->slots = KP_UNIT_NEW(unit, slot, lookup->capacity);
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (old.slots[i].name != NULL)
            *find(lookup, old.slots[i].name) = old.slots[i];
    }
}

void kp_lookup_put(kp_unit *unit, kp_lookup *lookup, const kp_name *name, int32_t index) {
    if (lookup->count * 2 >= lookup->capacity)
        grow(unit, lookup);
    slot *s = find(lookup, name);
    lookup->count += s->name == NULL;
    *s = (slot){.name = name, .index = index};
}

int32_t kp_lookup_get(const kp_lookup *lookup, const kp_name *name) {
    const slot *s = lookup->capacity != 0 ? find(lookup, name) : NULL;
    return s != NULL && s->name != NULL ? s->index : KP_LOOKUP_NONE;
}
