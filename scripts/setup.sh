#!/usr/bin/env bash
# Installs what is missing for a task, from Debian's packages, asking for nothing. Without root it prints the one line that
# installs it and ends with status 3.
#
#   scripts/setup.sh build|test|check     each includes the ones before it
#   scripts/setup.sh fuzz                 build, and what fuzzing needs
set -euo pipefail
build=(g++ cmake ninja-build libcli11-dev nlohmann-json3-dev libfmt-dev libhwy-dev zlib1g-dev libdnnl-dev)
test=(libgtest-dev libgmock-dev libbenchmark-dev libgmp-dev python3 python3-jsonschema)
check=(clang-format-16 clang-tidy-16 git)
fuzz=(clang-16 libclang-rt-16-dev)
case "${1:-}" in
  build) wanted=("${build[@]}") ;;
  test) wanted=("${build[@]}" "${test[@]}") ;;
  check) wanted=("${build[@]}" "${test[@]}" "${check[@]}") ;;
  fuzz) wanted=("${build[@]}" "${fuzz[@]}") ;;
  *) echo "usage: scripts/setup.sh build|test|check|fuzz" >&2; exit 2 ;;
esac
missing=()
for package in "${wanted[@]}"; do
  # Package names may carry the architecture; a virtual or renamed package would show here as missing, and apt resolves it.
  status=$(dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null || true)
  [[ "$status" == *"ok installed"* ]] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -ne 0 ]; then
  echo "Some packages are missing. Install them, then run this again:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 3
fi
echo "Installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
