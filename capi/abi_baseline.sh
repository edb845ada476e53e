#!/bin/sh
# Writes the baseline of the binary interface.
#   abi_baseline.sh ABIDW LIBRARY CAPI_FOLDER
set -eu
cd "$3"
"$1" --exported-interfaces-only --drop-private-types --no-show-locs \
  --no-corpus-path --no-comp-dir-path --no-elf-needed --headers-dir include "$2" |
  sed "s|path='[^']*/capi/|path='capi/|" >lmsimbench_c.abi.new
mv lmsimbench_c.abi.new lmsimbench_c.abi
