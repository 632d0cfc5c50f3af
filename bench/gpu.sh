#!/usr/bin/env bash
# Builds, tests and measures kp on a machine with a GPU that has gcc, cmake and perhaps Python, but no network and not what
# Debian would give it.
#
#   bench/gpu.sh pack FOLDER          here: puts what such a machine may lack into FOLDER (about 10 MiB): headers, libSPIRV-Tools,
#                                     the Vulkan loader, shaderc, cmocka, and the wheels in dist/
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

pack() {
    local to=$1 file lib=/usr/lib/x86_64-linux-gnu
    mkdir -p "$to/include" "$to/lib"
    for file in vulkan vk_video volk.h volk.c spirv spirv-tools shaderc cmocka.h cmocka_version.h; do
        [ ! -e /usr/include/$file ] || cp -rL /usr/include/$file "$to/include/"
    done
    rm -f "$to"/include/vulkan/*.hpp "$to"/include/spirv-tools/*.hpp # C++ faces, and most of the bytes
    rm -rf "$to"/include/spirv/1.[0-2]
    find "$to/include/spirv" -type f ! -name "*.h" -delete
    for file in libSPIRV-Tools.a libvulkan.so.1 libshaderc.so.1 libcmocka.so.0; do
        [ ! -e $lib/$file ] || cp -L $lib/$file "$to/lib/"
    done
    [ ! -e "$to/lib/libcmocka.so.0" ] || ln -sf libcmocka.so.0 "$to/lib/libcmocka.so"
    cp dist/*.whl "$to/" 2>/dev/null || echo "no wheel in dist/: 'make wheel' makes one, and the article's programs will run there"
    du -sh "$to"
}

# What the compilers, cmake and the dynamic linker look through besides the system's folders.
use_carried() {
    local carry
    carry=$(cd "$KP_CARRY" && pwd) || exit 1
    export C_INCLUDE_PATH=$carry/include CPLUS_INCLUDE_PATH=$carry/include LIBRARY_PATH=$carry/lib
    export CMAKE_PREFIX_PATH=$carry LD_LIBRARY_PATH=$carry/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    # Links do not travel everywhere.
    [ ! -e "$carry/lib/libcmocka.so.0" ] || cp -n "$carry/lib/libcmocka.so.0" "$carry/lib/libcmocka.so" 2>/dev/null
    return 0
}

# A driver that is there but not where the loader looks.
use_driver() {
    local file=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
    if [ -e $file ] && ! ls /usr/share/vulkan/icd.d/nvidia* /etc/vulkan/icd.d/nvidia* >/dev/null 2>&1; then
        export VK_DRIVER_FILES=$file VK_ICD_FILENAMES=$file
    fi
}

step_build() {
    local generator=() tests=OFF
    ! command -v ninja >/dev/null || generator=(-G Ninja)
    ! echo '#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>' | cc -E - >/dev/null 2>&1 || tests=ON
    cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DKP_BENCH=ON -DKP_EXAMPLES=ON -DKP_TESTS=$tests &&
        cmake --build "$build" -j "$(nproc)"
}

step_devices() { "$build/src/cli/kpinfo"; }
step_examples() { ctest --test-dir "$build/examples/c" --output-on-failure --no-tests=error; }
step_tests() { ctest --test-dir "$build/tests/gpu" --output-on-failure --no-tests=error; }

# The article's two programs, with the package from the carried wheel.
step_article() {
    local site=$build/site program article=$root/shared/article
    [ -d "$article" ] || article=$root/../shared/article
    python3 -m pip install -q --no-index --no-deps --upgrade --target "$site" "$KP_CARRY"/*.whl || return 1
    for program in "$article"/*.py; do
        echo "$program"
        PYTHONPATH=$site python3 "$program" || return 1
    done
    PYTHONPATH=$site python3 bench/logistic.py
}

step_multiply() {
    "$build/bench/multiply" --elements $((1 << 28)) && "$build/bench/multiply" --elements $((1 << 28)) --json >"$out/multiply.json"
}
step_sweep() { "$build/bench/multiply" --elements $((1 << 28)) --rounds 3 --sweep; }
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
