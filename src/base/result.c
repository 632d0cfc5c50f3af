// Results and the version as text.
#include <kp/base.h>

#define TEXT_OF(x) #x
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *kp_version(void) { return VERSION_TEXT(KP_VERSION_MAJOR, KP_VERSION_MINOR, KP_VERSION_PATCH); }

const char *kp_result_name(kp_result result) {
    switch (result) {
#define KP_X(name, value, meaning) \
    case KP_##name:                \
        return "KP_" #name;
        KP_RESULTS(KP_X)
#undef KP_X
    }
    return "KP_ERROR_?";
}
