#!/bin/sh
# Sets up a bare Debian 12 and does what a newcomer wants first.
#   sh cmake/bootstrap.sh run    build, score the built-in simulators on the
#                                bundled measurements, print the scorecard
#   sh cmake/bootstrap.sh test   build everything and run all tests
# Installs what is missing with apt; without root or sudo it prints the line to
# run and exits 1.
set -eu

usage() {
  echo "usage: sh cmake/bootstrap.sh run|test" >&2
  exit 2
}

[ $# -eq 1 ] || usage
case $1 in run | test) goal=$1 ;; *) usage ;; esac
cd "$(dirname "$0")/.."

packages="ca-certificates g++ cmake ninja-build libabsl-dev libcli11-dev
  libcsv-dev libeigen3-dev libflatbuffers-dev flatbuffers-compiler libfmt-dev
  nlohmann-json3-dev"
if [ "$goal" = test ]; then
  packages="$packages abigail-tools cargo catch2 doxygen libbenchmark-dev libsimgrid-dev
    pkg-config python3 rustc zlib1g-dev"
fi

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "bootstrap: this is no Debian system; install what answers to:" $packages >&2
  exit 1
fi
missing=""
for package in $packages; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
  apt_line="apt-get install -y --no-install-recommends$missing"
  if [ "$(id -u)" -eq 0 ]; then
    as_root=""
  elif command -v sudo >/dev/null 2>&1; then
    as_root="sudo"
  else
    echo "bootstrap: packages are missing, and neither root nor sudo is at hand. Run as root:" >&2
    echo "$apt_line" >&2
    exit 1
  fi
  echo "bootstrap: installing$missing" >&2
  $as_root apt-get update -qq
  # shellcheck disable=SC2086 # one word a package
  $as_root env DEBIAN_FRONTEND=noninteractive $apt_line -qq >/dev/null
fi

quietly() {
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "bootstrap: failed: $*" >&2
    exit 1
  fi
  rm -f "$log"
}

if [ "$goal" = run ]; then
  echo "bootstrap: building (a few minutes the first time)" >&2
  quietly cmake --preset release -DLMSIMBENCH_TESTS=OFF -DLMSIMBENCH_BENCHMARKS=OFF
  quietly cmake --build --preset release --target lmsimbench_program
  exec build/release/examples/lmsimbench/lmsimbench score
else
  quietly cmake --preset release -DLMSIMBENCH_TESTS=ON -DLMSIMBENCH_BENCHMARKS=ON
  cmake --build --preset release
  exec ctest --preset release -j2
fi
