#!/usr/bin/env bash
# Builds joulegrid and prices the movement of an INT8 network's inference epoch: out/movement_report.json (the document),
# out/movement_report.txt (the summary, also printed).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build
cmake --preset demo
cmake --build build/demo --parallel
mkdir -p out
build/demo/cli/joulegrid report movement --dims 784,2500,2000,1500,1000,500,10 --examples 60000 \
  --output out/movement_report.json | tee out/movement_report.txt
echo
echo "The document: out/movement_report.json    this summary: out/movement_report.txt"
