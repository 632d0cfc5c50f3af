# kp_add_kernels(<target> <file.py>...): compiles the last function of each file with kpc when the target is built, into a
# header <file>.kernel.h that the target's sources include. It holds a kp_program called <file>_program.
function(kp_add_kernels target)
    foreach(file ${ARGN})
        get_filename_component(name ${file} NAME_WE)
        get_filename_component(path ${file} ABSOLUTE)
        set(folder ${CMAKE_CURRENT_BINARY_DIR}/kernels)
        set(header ${folder}/${name}.kernel.h)
        file(MAKE_DIRECTORY ${folder})
        add_custom_command(OUTPUT ${header}
            COMMAND kpc ${path} --c-header=${header} --name=${name}_program
            DEPENDS kpc ${path}
            COMMENT "Compiling the kernel ${name}"
            VERBATIM)
        target_sources(${target} PRIVATE ${header})
        target_include_directories(${target} PRIVATE ${folder})
    endforeach()
endfunction()
