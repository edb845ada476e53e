# The failure that a model with a mistake causes: the whole of it is
# wrong_model.expected, and README.md shows its first lines.
#   sh wrong_model.sh PROGRAM SCRATCH_DIR SOURCE_DIR
# The file moves with the measurements: write it anew with
#   PROGRAM '[wrong]' | sed -n '/^with expansion:/,/^$/p'
set -u
program=$1
printed=$2/wrong_model.printed
source_dir=$3
expected=$source_dir/examples/unit_test/wrong_model.expected

if "$program" '[wrong]' >"$2/wrong_model.out" 2>&1; then
  echo "FAILED: the model with a mistake passes"
  exit 1
fi
# Without the program's name, its version and its place.
sed -n '/^with expansion:/,/^$/p' "$2/wrong_model.out" >"$printed"
diff "$expected" "$printed" || { echo "FAILED: it fails with another text"; exit 1; }

awk '/^<!-- what the wrong model/ { found = 1; next }
     found && /^```/ { if (inside) exit; inside = 1; next }
     inside' "$source_dir/README.md" >"$2/wrong_model.shown"
[ -s "$2/wrong_model.shown" ] || { echo "FAILED: README.md shows no failure"; exit 1; }
head -n "$(wc -l <"$2/wrong_model.shown")" "$printed" | diff "$2/wrong_model.shown" - ||
  { echo "FAILED: README.md shows another failure"; exit 1; }
echo "passed"
