#!/bin/sh
# Fetches SwiftShader, a Vulkan driver that runs on the CPU and resembles a small GPU, for the tests:
#
#   tools/get_swiftshader.sh [folder]      default: .drivers/swiftshader
#
# Debian ships it inside a browser's package. Two files are unpacked from that; nothing is installed. Does nothing when
# they are there already.
set -eu

package=chromium-common
folder=${1:-.drivers/swiftshader}
[ -f "$folder/libvk_swiftshader.so" ] && [ -f "$folder/vk_swiftshader_icd.json" ] && exit 0

fail() {
    echo "get_swiftshader.sh: $*" >&2
    exit 1
}
for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || fail "needs $tool; put libvk_swiftshader.so and vk_swiftshader_icd.json into $folder by hand"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# As the user that we are: downloading needs no privileges, only package lists.
download() { (cd "$work" && apt-get -qq -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=3 download "$package") >"$work/log" 2>&1; }
update() {
    if [ "$(id -u)" = 0 ]; then apt-get -qq update; else sudo -n apt-get -qq update; fi >"$work/log" 2>&1
}

echo "fetching SwiftShader (Debian's $package)"
done=no
for pause in 1 5 15 0; do
    if download; then done=yes && break; fi
    update || true
    sleep "$pause"
done
[ $done = yes ] || { cat "$work/log" >&2; fail "could not download the package $package; is the network there? Run it again to retry"; }

mkdir -p "$folder.part"
dpkg-deb --fsys-tarfile "$work/$package"_*.deb |
    tar -x -C "$folder.part" --strip-components=4 ./usr/lib/chromium/libvk_swiftshader.so ./usr/lib/chromium/vk_swiftshader_icd.json ||
    fail "the package $package holds no SwiftShader any more"
rm -rf "$folder"
mv "$folder.part" "$folder"
