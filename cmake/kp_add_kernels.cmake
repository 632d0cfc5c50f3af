# kp_add_kernels(<target> <file.py>... [KERNELS <name>...])
#
# Compiles kernels with kpc when <target> is built, and makes what it writes part of the target: for each file a header
# <file>.kernel.h, which the target's sources include, with
#
#   <file>_program            a kp_program, of the last function of the file; or
#   <name>_program ...        one for each function that KERNELS names, which must be in that one file
#
# What no name in C has, as the - of my-blur.py, is a _ in <file>_program. A faulty kernel fails the build with its line.
# Comes with find_package(kp).
function(kp_add_kernels target)
    cmake_parse_arguments(arg "" "" "KERNELS" ${ARGN})
    set(files ${arg_UNPARSED_ARGUMENTS})
    list(LENGTH files count)
    if(count EQUAL 0 OR (arg_KERNELS AND NOT count EQUAL 1))
        message(FATAL_ERROR "kp_add_kernels(${target}): give one or more files, and KERNELS with one file only")
    endif()
    set(kpc kpc)
    if(TARGET kp::kpc)
        set(kpc kp::kpc)
    endif()
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/kernels)
    file(MAKE_DIRECTORY ${folder})
    foreach(file ${files})
        get_filename_component(name ${file} NAME_WLE)
        get_filename_component(path ${file} ABSOLUTE)
        set(header ${folder}/${name}.kernel.h)
        string(MAKE_C_IDENTIFIER ${name}_program symbol)
        set(options --name=${symbol})
        if(arg_KERNELS)
            set(options ${arg_KERNELS})
            list(TRANSFORM options PREPEND --kernel=)
        endif()
        get_property(made DIRECTORY PROPERTY kp_made_${name})
        if(made AND NOT made STREQUAL "${path};${options}")
            message(FATAL_ERROR "kp_add_kernels(${target}): ${name}.kernel.h is made already, of ${made}; it cannot be made of "
                "${path};${options} too: rename a file, or name all kernels in one call")
        endif()
        set_property(DIRECTORY PROPERTY kp_made_${name} "${path};${options}")
        add_custom_command(OUTPUT ${header}
            COMMAND ${kpc} ${path} --c-header=${header} ${options}
            DEPENDS ${kpc} ${path}
            COMMENT "Compiling the kernels of ${name}"
            VERBATIM)
        target_sources(${target} PRIVATE ${header})
    endforeach()
    target_include_directories(${target} PRIVATE ${folder})
endfunction()
