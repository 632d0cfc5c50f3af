# kp_vulkan_layer(<name> <description> [<source>]): the Vulkan layer VK_LAYER_KP_<name>, of <name>_layer.c (layer_link.h), with its
# manifest, in the build folder. KP_LAYER_LIBRARY is its path then. KP_LAYER_ENVIRONMENT is what a test behind it has besides
# VK_INSTANCE_LAYERS; Mesa's layer VK_LAYER_MESA_device_select crashes when a call below it fails, and is kept out.
find_package(Threads REQUIRED)
find_path(KP_VULKAN_INCLUDE_DIR vulkan/vulkan.h REQUIRED DOC "Folder of vulkan/vulkan.h")
set(KP_LAYER_MANIFEST ${CMAKE_CURRENT_LIST_DIR}/layer.json.in)
set(KP_LAYER_PATH ${CMAKE_BINARY_DIR}/vulkan_layers /usr/share/vulkan/explicit_layer.d /etc/vulkan/explicit_layer.d
    /usr/local/share/vulkan/explicit_layer.d)
list(JOIN KP_LAYER_PATH ":" KP_LAYER_PATH)
set(KP_LAYER_ENVIRONMENT "KP_CACHE_DIR=" "NODEVICE_SELECT=1" "VK_LAYER_PATH=${KP_LAYER_PATH}"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/suppressions/lsan.txt:print_suppressions=0")

function(kp_vulkan_layer KP_LAYER_NAME KP_LAYER_DESCRIPTION)
    set(source ${ARGN})
    if(NOT source)
        set(source ${KP_LAYER_NAME}_layer.c)
    endif()
    set(KP_LAYER_LIBRARY ${CMAKE_CURRENT_BINARY_DIR}/libkp_${KP_LAYER_NAME}_layer.so)
    set(KP_LAYER_LIBRARY ${KP_LAYER_LIBRARY} PARENT_SCOPE)
    configure_file(${KP_LAYER_MANIFEST} ${CMAKE_BINARY_DIR}/vulkan_layers/${KP_LAYER_NAME}.json @ONLY)
    set(target kp_${KP_LAYER_NAME}_layer)
    add_library(${target} MODULE ${source})
    target_include_directories(${target} SYSTEM PRIVATE ${KP_VULKAN_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE Threads::Threads)
    set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden)
    kp_warnings(${target})
endfunction()
