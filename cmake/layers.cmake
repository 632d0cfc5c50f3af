# kp_layer(NAME <folder> SOURCES <file>... [USES <layer>...] [SYSTEM <target>...]): the folder src/<NAME> as an object library
# kp_<NAME>. Its include path holds include/ and, for each layer it USES, a folder with nothing but a link called <layer>, so
# `#include "base/error.h"` compiles where base is allowed and a forbidden include does not.

function(kp_warnings target)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow
        -Wstrict-prototypes -Wmissing-prototypes $<$<BOOL:${KP_WERROR}>:-Werror>>)
    if(KP_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=${KP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
        target_link_options(${target} PRIVATE -fsanitize=${KP_SANITIZE})
    endif()
    target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
endfunction()

# Makes `#include "<layer>/x.h"` work for target.
function(kp_use_layers target)
    foreach(layer ${ARGN})
        set(root ${CMAKE_BINARY_DIR}/layers/${layer})
        file(MAKE_DIRECTORY ${root})
        file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${layer} ${root}/${layer} SYMBOLIC)
        target_include_directories(${target} PRIVATE ${root})
    endforeach()
endfunction()

function(kp_layer)
    cmake_parse_arguments(arg "" "NAME" "SOURCES;USES;SYSTEM" ${ARGN})
    set(target kp_${arg_NAME})
    add_library(${target} OBJECT ${arg_SOURCES})
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(${target} PRIVATE KP_BUILD)
    target_link_libraries(${target} PRIVATE ${arg_SYSTEM})
    kp_use_layers(${target} ${arg_USES})
    kp_warnings(${target})
endfunction()
