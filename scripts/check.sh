#!/usr/bin/env bash
# Formatting of all C++ sources and static analysis of all but the tests.
#
#   scripts/check.sh          both
#   scripts/check.sh format   formatting only
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh check
git ls-files -z '*.cc' '*.h' | xargs -0 clang-format-16 --dry-run --Werror
echo "formatting: fine"
[ "${1:-}" = format ] && exit 0
# A configured tree of its own, without launcher and with warnings that clang knows.
cmake --preset dev -B build/tidy -DJOULEGRID_WERROR=OFF -DCMAKE_CXX_COMPILER_LAUNCHER= >/dev/null
git ls-files -z 'joulegrid/*.cc' 'cli/*.cc' ':!*_test.cc' |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-16 -p build/tidy --quiet --extra-arg=-Wno-unknown-warning-option
echo "clang-tidy: fine"
