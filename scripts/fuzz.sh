#!/usr/bin/env bash
# Builds the fuzz targets and runs each for SECONDS (60) from its seed corpus; finds end the run with a nonzero status and
# the input in build/fuzz/. What is learned is kept in build/fuzz/corpus/.
#
#   scripts/fuzz.sh [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
scripts/setup.sh fuzz
cmake --preset fuzz >/dev/null
fuzz() { # TARGET CORPUS
  cmake --build --preset fuzz --target "$1"
  mkdir -p "build/fuzz/corpus/$2"
  "build/fuzz/fuzz/$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=65536 -dict="fuzz/$2.dict" \
    -print_final_stats=1 -artifact_prefix=build/fuzz/ "build/fuzz/corpus/$2" "fuzz/corpus/$2"
}
fuzz ir_parse_fuzz ir
