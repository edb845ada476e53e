# Helpers of the program's tests. Usage of a test:
#   sh NAME.sh PROGRAM SCRATCH_DIR SOURCE_DIR
set -u
program=$1
scratch=$2
source_dir=$3
rm -rf "$scratch"
mkdir -p "$scratch"
failures=0

fail() {
  echo "FAILED: $1"
  sed 's/^/  stdout: /' "$scratch/out" | head -20
  sed 's/^/  stderr: /' "$scratch/err" | head -20
  failures=$((failures + 1))
}

# expect_exit CODE ARGUMENT…: runs the program; its output is in out and err.
expect_exit() {
  expected=$1
  shift
  command_line="lmsimbench $*"
  "$program" "$@" >"$scratch/out" 2>"$scratch/err"
  got=$?
  [ "$got" -eq "$expected" ] || fail "$command_line: exit code $got, expected $expected"
}

# expect_out TEXT, expect_err TEXT: the last run printed this.
expect_out() {
  grep -qF -e "$1" "$scratch/out" || fail "$command_line: stdout lacks '$1'"
}
expect_err() {
  grep -qF -e "$1" "$scratch/err" || fail "$command_line: stderr lacks '$1'"
}

# expect_no_file FILE: nothing was written.
expect_no_file() {
  [ ! -e "$1" ] || fail "$command_line: $1 is there"
}

finish() {
  [ "$failures" -eq 0 ] || exit 1
  echo "passed"
}
