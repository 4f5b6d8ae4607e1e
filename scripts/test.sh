#!/usr/bin/env bash
# Builds everything and runs all tests.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh test
cmake --preset release
cmake --build build/release --parallel
ctest --preset release
