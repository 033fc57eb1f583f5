#!/bin/sh
# Tests cprof attach and cprof dump on aarch64, in a virtual machine with its
# own kernel: user-mode emulators cannot trace or read other processes.
#
#   machine.sh SOURCES FOLDER
#
# Builds Lua and cprof for aarch64 in FOLDER, as platforms.sh does, fetches
# Debian's kernel and busybox for it, and runs machine/check.lua there, under
# qemu-system-aarch64. The last line counts the checks. Ends with 1 if any failed.
set -u
sources=$(realpath -m "$1") to=$(realpath -m "$2")
tree=$(realpath "$(dirname "$0")/../..")
here=$tree/spec/versions
machine=$to/machine root=$to/machine/root
cross=/usr/aarch64-linux-gnu/lib

for tool in qemu-system-aarch64 aarch64-linux-gnu-gcc cpio; do
  command -v $tool > /dev/null || {
    echo "the machine was not tried: there is no $tool"
    exit 0
  }
done
[ -f "$sources/lua-5.4.8.tar.gz" ] || {
  echo "the machine was not tried: there is no $sources/lua-5.4.8.tar.gz" \
    "(LUA_SOURCES=FOLDER says where sources of Lua are)"
  exit 0
}

sh "$here/platforms.sh" "$sources" "$to" aarch64 || exit 1

# apt for arm64, with its own package lists: this system is not changed
apt () {
  program=$1
  shift
  "$program" -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
    -o Dir::State="$machine/apt" -o Dir::State::status=/dev/null \
    -o Dir::Cache="$machine/apt" -o Dir::Etc::sourceparts=- \
    -o Dir::Etc::sourcelist="$machine/apt/sources.list" \
    -o APT::Sandbox::User="$(id -un)" "$@"
}

# Fetches a package, and unpacks it.
package () {
  (cd "$machine" && rm -f "$1"_*.deb && apt apt-get download "$1" > /dev/null &&
    dpkg-deb -x "$1"_*.deb packages && rm "$1"_*.deb)
}

kernel () {
  mkdir -p "$machine/apt/lists/partial" "$machine/apt/archives/partial" &&
    echo "deb http://deb.debian.org/debian bookworm main" \
      > "$machine/apt/sources.list" &&
    apt apt-get update > /dev/null &&
    package busybox-static &&
    package "$(apt apt-cache show linux-image-cloud-arm64 |
      sed -n 's/^Depends: \([^ ]*\).*/\1/p' | head -n 1)"
}

ls "$machine"/packages/boot/vmlinuz-* > /dev/null 2>&1 || kernel || {
  echo "the machine was not tried: its kernel could not be fetched"
  exit 1
}

rm -rf "$root"
for folder in bin lib proc sys dev tmp usr/share cprof modules/cprof; do
  mkdir -p "$root/$folder"
done
cp "$machine/packages/bin/busybox" "$to/lua-aarch64/bin/lua5.4" "$root/bin"
for library in ld-linux-aarch64.so.1 libc.so.6 libm.so.6 libdl.so.2 \
  libpthread.so.0 librt.so.1 libgcc_s.so.1; do
  cp "$cross/$library" "$root/lib"
done
cp -r /usr/share/lua "$root/usr/share"
cp -r "$tree/lua" "$root/cprof"
cp "$to/aarch64/cprof/core.so" "$root/modules/cprof"
cp "$here/machine"/* "$root"
mv "$root/init.sh" "$root/init"
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc 2> /dev/null) | gzip -1 \
  > "$machine/root.gz"

timeout 1800 qemu-system-aarch64 -M virt -cpu cortex-a57 -smp 2 -m 1024 \
  -nic none -nographic -no-reboot -kernel "$machine"/packages/boot/vmlinuz-* \
  -initrd "$machine/root.gz" -append "console=ttyAMA0 quiet panic=1" \
  < /dev/null 2>&1 | tr -d '\r' > "$machine/log"
grep -E '^(failed: |Linux )|^[0-9]+ passed, [0-9]+ failed$' "$machine/log"
grep -q '^[1-9][0-9]* passed, 0 failed$' "$machine/log" || {
  echo "the machine's output is in $machine/log"
  exit 1
}
