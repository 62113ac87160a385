# Starts the program. Both launchers read this, the checkout's and the package's. They set: jdk, its home; version, of its
# language; archive, of classes laid out for a quick start; class_path, which the archive was made for; full_path, which
# begins with it and may add what training or serving pages needs.
# shellcheck shell=sh disable=SC2154
main=dev.pipewright.app.cli.Main
terminal=false
[ ! -t 1 ] || terminal=true
columns=${COLUMNS:-}
if [ -z "$columns" ] && [ $terminal = true ]; then
  # Not from standard output, which is a pipe in here.
  size=$({ stty size </dev/tty || stty size <&2 || stty size <&0; } 2>/dev/null) || size=
  columns=${size#* }
fi
case $columns in '' | *[!0-9]* | 0) columns=100 ;; esac
progress=false # on standard error, which need not be the same
[ ! -t 2 ] || progress=true
compiler= # the quick one is enough where an answer takes a second, and leaves the other core alone
case ${1-} in plan | predict | schedule) compiler=-XX:TieredStopAtLevel=1 ;; esac
native= # solver and libtorch are native code; JDKs warn unless told that this is meant, in words that older ones do not know
if [ "$class_path" != "$full_path" ] || { [ "${1-}" = schedule ] && [ "${2-}" = optimal ]; }; then
  native=--enable-native-access=ALL-UNNAMED
  case $version in
    21 | 22) ;;
    *) native="$native --sun-misc-unsafe-memory-access=allow" ;;
  esac
fi
cache=AOTCache
[ "$version" -ge 25 ] || cache=SharedArchiveFile
exec "$jdk/bin/java" -XX:+UseSerialGC $compiler $native -XX:$cache="$archive" -Xlog:disable \
  -Dpipewright.terminal=$terminal -Dpipewright.progress=$progress -Dpipewright.columns="$columns" \
  -cp "$full_path" "$main" ${1+"$@"}
