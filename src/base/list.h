// A list whose links lie in its items: each item's first member is a kp_list_link, so that a link's address is the
// item's. Newest first. Nothing to allocate, nothing that can fail.
#ifndef KP_SRC_BASE_LIST_H
#define KP_SRC_BASE_LIST_H

#include <stddef.h>

typedef struct kp_list_link {
    struct kp_list_link *before, *after;
} kp_list_link;

typedef struct kp_list {
    kp_list_link *first; // NULL: empty
} kp_list;

static inline void kp_list_add(kp_list *list, kp_list_link *link) {
    *link = (kp_list_link){.after = list->first};
    if (link->after != NULL)
        link->after->before = link;
    list->first = link;
}

static inline void kp_list_remove(kp_list *list, kp_list_link *link) {
    if (link->before != NULL)
        link->before->after = link->after;
    else
        list->first = link->after;
    if (link->after != NULL)
        link->after->before = link->before;
    *link = (kp_list_link){NULL, NULL};
}

// for (KP_LIST_EACH(kp_memory, m, &manager->memories)) ...
#define KP_LIST_EACH(type, item, list)                     \
    type *item = (type *)(list)->first;                    \
    item != NULL; /* NOLINT(bugprone-macro-parentheses) */ \
    item = (type *)((kp_list_link *)item)->after

#endif
