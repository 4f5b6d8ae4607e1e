#!/usr/bin/env bash
# What the search for nests reaches, against what it promises: some six minutes on two cores.
#   bench/nest_reach.sh [PROGRAM [SEED]]
set -euo pipefail
program=${1:-build/release/cli/joulegrid}
seed=${2:-1}
failed=0
# promise NAME MOST_STEPS SEARCH…: runs the search and compares its steps.
promise() {
  local name=$1 most=$2
  shift 2
  read -r steps evaluations seconds < <("$program" search "$@" --seed "$seed" --threads 2 --json |
    /usr/bin/python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["steps"], d["evaluations"], round(d["seconds"], 1))')
  printf '%-18s %22s steps, promised %22s; %s evaluations in %s s\n' "$name" "$steps" "$most" "$evaluations" "$seconds"
  if ((steps > most)); then failed=1; fi
}
epoch=(mlp --dims 784,2500,2000,1500,1000,500,10 --examples 60000)
promise '16^3' 69656 gemm 16 16 16 --budget 2s
promise '8192^3' 20500000000000 gemm 8192 8192 8192 --budget 60s
promise 'epoch, auto' 23600000000000 "${epoch[@]}" --batch auto --budget 180s
promise 'batch full' 31000000000000 "${epoch[@]}" --batch full --budget 20s
promise 'batch 64' 44500000000000 "${epoch[@]}" --batch 64 --budget 20s
# No worse than flat tiles, proven to be the best of their family.
promise 'batch 16' 134309615592698 "${epoch[@]}" --batch 16 --budget 20s
promise 'batch 4' 435668465318036 "${epoch[@]}" --batch 4 --budget 20s
promise 'batch 1' 1673597885020608 "${epoch[@]}" --batch 1 --budget 20s
exit $failed
