#!/usr/bin/env bash
# Builds, tests and measures kp on a machine with a GPU that has gcc, cmake and perhaps Python, but no network and not what
# Debian would give it.
#
#   bench/gpu.sh pack FOLDER          here: puts what such a machine may lack into FOLDER (about 30 MiB): headers, the archives
#                                     of SPIRV-Tools and shaderc, the Vulkan loader, cmocka, and the wheels in dist/
#   KP_CARRY=FOLDER bench/gpu.sh      there: build into build/gpu; then devices, examples, GPU tests, benchmarks, and CuPy
#                                     beside them where it can be imported
#
# KP_CARRY may be left out where all is installed. KP_GPU_STEPS (default: "build devices examples tests article multiply sweep
# dispatch cupy") chooses; "all-benches" runs bench/run.py. Results also go to $OUT, or build/gpu/results. A step that fails is
# named at the end, and the others run all the same.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
root=$PWD
build=$root/build/gpu
out=${OUT:-$build/results}
configure=() # further arguments of cmake

arch=x86_64-linux-gnu

# FOLDER is laid out as /usr is, since the package files of CMake count on that.
pack() {
    local to=$1 file
    mkdir -p "$to/include" "$to/lib/$arch/cmake" "$to/bin"
    for file in vulkan vk_video volk.h volk.c spirv spirv-tools shaderc cmocka.h cmocka_version.h; do
        [ ! -e /usr/include/$file ] || cp -rL /usr/include/$file "$to/include/"
    done
    rm -f "$to"/include/vulkan/*.hpp "$to"/include/spirv-tools/*.hpp # C++ faces, and most of the bytes
    rm -rf "$to"/include/spirv/1.[0-2]
    find "$to/include/spirv" -type f ! -name "*.h" -delete
    # Debian's libshaderc.so.1 cannot be loaded; kp links these archives instead (src/shader).
    for file in libvulkan.so libvulkan.so.1 libcmocka.so libcmocka.so.0 cmake/SPIRV-Tools \
        lib{shaderc_combined,glslang,MachineIndependent,GenericCodeGen,OSDependent,OGLCompiler,HLSL,SPIRV}.a \
        libSPIRV-Tools{-opt,}.a; do
        [ ! -e "/usr/lib/$arch/$file" ] || cp -rL "/usr/lib/$arch/$file" "$to/lib/$arch/$file"
    done
    for file in spirv-as spirv-dis spirv-val pkg-config; do # the tests look for them
        cp -L "/usr/bin/$file" "$to/bin/"
    done
    cp -L /usr/lib/$arch/libpkgconf.so.3 "$to/lib/$arch/"
    mkdir -p "$to/lib/$arch/pkgconfig"
    printf '%s\n' "root=\${pcfiledir}/../../.." "Name: cmocka" "Description: unit tests" "Version: 1.1" \
        "Libs: -L\${root}/lib/$arch -lcmocka" "Cflags: -I\${root}/include" >"$to/lib/$arch/pkgconfig/cmocka.pc"
    cp dist/*.whl "$to/" 2>/dev/null || echo "no wheel in dist/: 'make wheel' makes one, and the article's programs will run there"
    du -sh "$to"
}

# What the compilers, cmake and the dynamic linker look through besides the system's folders.
use_carried() {
    local carry lib
    carry=$(cd "$KP_CARRY" && pwd) || exit 1
    lib=$carry/lib/$arch
    export C_INCLUDE_PATH=$carry/include CPLUS_INCLUDE_PATH=$carry/include LIBRARY_PATH=$lib
    export CMAKE_PREFIX_PATH=$carry CMAKE_LIBRARY_PATH=$lib PKG_CONFIG_PATH=$lib/pkgconfig PATH=$carry/bin:$PATH
    export LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    chmod +x "$carry"/bin/* 2>/dev/null
    configure+=("-DSPIRV-Tools_DIR=$lib/cmake/SPIRV-Tools")
}

# A driver that is there but not where the loader looks.
use_driver() {
    local file=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
    if [ -e $file ] && ! ls /usr/share/vulkan/icd.d/nvidia* /etc/vulkan/icd.d/nvidia* >/dev/null 2>&1; then
        export VK_DRIVER_FILES=$file VK_ICD_FILENAMES=$file
    fi
}

step_build() {
    local tests=OFF go_on=(-k)
    ! command -v ninja >/dev/null || { configure+=(-G Ninja) && go_on=(-k 0); }
    ! pkg-config --exists cmocka || tests=ON
    cmake -S . -B "$build" "${configure[@]}" -DCMAKE_BUILD_TYPE=Release -DKP_BENCH=ON -DKP_EXAMPLES=ON -DKP_TESTS=$tests &&
        cmake --build "$build" -j "$(nproc)" -- "${go_on[@]}" # a test that does not build stops nothing else
}

step_devices() { "$build/src/cli/kpinfo"; }
step_examples() { ctest --test-dir "$build/examples/c" --output-on-failure --no-tests=error; }
step_tests() { ctest --test-dir "$build/tests/gpu" --output-on-failure --no-tests=error; }

# The article's two programs, with the package from the carried wheel.
step_article() {
    local site=$build/site program
    python3 -m pip install -q --no-index --no-deps --upgrade --target "$site" "$KP_CARRY"/*.whl || return 1
    for program in examples/python/0[12]_*.py; do
        echo "$program"
        PYTHONPATH=$site python3 "$program" || return 1
    done
    PYTHONPATH=$site python3 bench/logistic.py
}

step_multiply() {
    "$build/bench/multiply" --elements $((1 << 28)) && "$build/bench/multiply" --elements $((1 << 28)) --json >"$out/multiply.json"
}
step_sweep() { "$build/bench/multiply" --elements $((1 << 28)) --rounds 3 --sweep; }
step_transfer() { "$build/bench/transfer"; }
step_thresholds() { PYTHONPATH=$build/site python3 bench/thresholds.py; }
step_dispatch() { "$build/bench/dispatch" && "$build/bench/manager" --quick && "$build/bench/memory" && "$build/bench/compile"; }
step_cupy() { python3 bench/peer_cupy.py; }
step_all-benches() { PYTHONPATH=$build/site python3 bench/run.py --build "$build" --out "$out/bench.json"; }

if [ "${1:-}" = pack ]; then
    pack "${2:?pack into which folder?}"
    exit
fi
mkdir -p "$build" "$out"
[ -z "${KP_CARRY:-}" ] || use_carried
use_driver
failed=""
for step in ${KP_GPU_STEPS:-build devices examples tests article multiply sweep dispatch cupy}; do
    echo "== $step"
    start=$SECONDS
    "step_$step" >"$out/$step.log" 2>&1
    code=$?
    if [ "$step" = build ] && [ $code = 0 ]; then tail -n 1 "$out/$step.log"; else tail -n 60 "$out/$step.log"; fi
    [ $code = 0 ] || [ $code = 77 ] || failed="$failed $step"
    echo "   $step took $((SECONDS - start)) s, exit code $code"
done
[ -z "$failed" ] || echo "failed:$failed"
[ -z "$failed" ]
