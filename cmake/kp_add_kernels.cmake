# kp_add_kernels(<target> <file.py>... [KERNELS <name>...])
#
# Compiles kernels with kpc when <target> is built, and makes what it writes part of the target: for each file a header
# <file>.kernel.h, which the target's sources include, with
#
#   <file>_program            a kp_program, of the last function of the file; or
#   <name>_program ...        one for each function that KERNELS names, which must be in that one file
#
# A faulty kernel fails the build with its line. Comes with find_package(kp).
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
        get_filename_component(name ${file} NAME_WE)
        get_filename_component(path ${file} ABSOLUTE)
        set(header ${folder}/${name}.kernel.h)
        set(options --name=${name}_program)
        if(arg_KERNELS)
            set(options ${arg_KERNELS})
            list(TRANSFORM options PREPEND --kernel=)
        endif()
        add_custom_command(OUTPUT ${header}
            COMMAND ${kpc} ${path} --c-header=${header} ${options}
            DEPENDS ${kpc} ${path}
            COMMENT "Compiling the kernels of ${name}"
            VERBATIM)
        target_sources(${target} PRIVATE ${header})
    endforeach()
    target_include_directories(${target} PRIVATE ${folder})
endfunction()
