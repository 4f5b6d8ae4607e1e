#!/bin/sh
# Installs the build tree BUILD into a folder of its own, then builds and runs a project that knows only that folder.
# run.sh CMAKE BUILD COMPILER GENERATOR
set -eu
cmake=$1 build=$2 compiler=$3 generator=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/prefix" >/dev/null
awk '/^```cpp$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$here/../../docs/measuring.md" >"$work/example.cc"
"$cmake" -S "$here" -B "$work/consumer" -G "$generator" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" -DEXAMPLE="$work/example.cc" >/dev/null
"$cmake" --build "$work/consumer"
"$work/consumer/consumer"
"$work/consumer/example"
"$work/prefix/bin/joulegrid" --version
# Every public header stands alone, without compiler extensions.
cd "$work/prefix/include"
for header in $(find joulegrid -name '*.h'); do
  echo "#include \"$header\"" | "$compiler" -std=c++20 -I. -fsyntax-only -x c++ - || { echo "$header does not stand alone"; exit 1; }
done
