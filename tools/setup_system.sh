#!/bin/sh
# Installs the Debian packages that are missing for what is named, and nothing else:
#
#   tools/setup_system.sh build     compile the library, the tools and the Python package
#   tools/setup_system.sh run       run on a GPU or, without one, on Mesa's CPU driver
#   tools/setup_system.sh test      the tests
#   tools/setup_system.sh lint      clang, the formatter and the checkers
#
# Asks for nothing. Uses sudo when it is not run by root. Touches the network only when a package is missing. On a system
# without apt-get it says what is needed and goes on, so that the build can use what is there.
set -eu

build="cmake ninja-build pkg-config g++ libvulkan-dev libvulkan-volk-dev spirv-headers spirv-tools libshaderc-dev"
run="libvulkan1 mesa-vulkan-drivers"
test="libcmocka-dev vulkan-validationlayers binutils"
lint="clang clang-format clang-tidy libclang-rt-14-dev"
[ "$(dpkg --print-architecture 2>/dev/null)" != amd64 ] || lint="$lint libc6-dev-i386" # tools/check_32bit.py
python="python3 python3-venv python3-dev"

# Is there a python3 on PATH that is new enough, makes virtual environments and has its headers?
python_is_good() {
    python3 - <<'PY' >/dev/null 2>&1
import ensurepip, os, sys, sysconfig, venv
assert sys.version_info >= (3, 11)
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
PY
}

wanted=""
for group in "$@"; do
    case $group in
    build) wanted="$wanted $build" && { python_is_good || wanted="$wanted $python"; } ;;
    run) wanted="$wanted $run" ;;
    test) wanted="$wanted $test" ;;
    lint) wanted="$wanted $lint" ;;
    *) echo "setup_system.sh: no such group: $group (build, run, test, lint)" >&2 && exit 2 ;;
    esac
done

if ! command -v apt-get >/dev/null; then
    echo "setup_system.sh: no apt-get here; make sure that the equivalents of these are installed:$wanted" >&2
    exit 0
fi

missing=""
for package in $wanted; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup_system.sh: these packages are missing, and there is no sudo; as root, run:" >&2
        echo "    apt-get update && apt-get install -y --no-install-recommends$missing" >&2
        exit 1
    fi
    as_root="sudo"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    # shellcheck disable=SC2086  # as_root is a word or nothing
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" \
        >>"$log" 2>&1 </dev/null
}
# shellcheck disable=SC2086  # a list of words
install() { apt install --no-install-recommends $missing; }

echo "installing$missing"
# The package lists may be absent or old: then, and only then, fetch them, once.
if ! install && ! { apt update && install; }; then
    cat "$log" >&2
    echo "setup_system.sh: apt-get could not install$missing" >&2
    exit 1
fi
