. "$(dirname "$0")/check.sh"

# Plug-ins are built as their authors build them: outside of this tree, with the
# header alone. Under a sanitizer the program has a run-time library that they
# lack, which does them no harm.
cc=${CC:-cc}
build() {
  "$cc" -std=c99 -shared -fPIC -I "$source_dir/capi/include" "$1" -o "$2" ||
    fail "cannot build $1"
}

build "$source_dir/examples/plugin/simulator.c" "$scratch/simulator.so"

# In a process of its own and in this one it answers alike.
expect_exit 0 score --source vtrain --plugin "worker=$scratch/simulator.so" --csv "$scratch/worker.csv"
expect_out "worker"
expect_err "worker: started 1 time ("
expect_exit 0 score --source vtrain --in-process --plugin "worker=$scratch/simulator.so" \
  --csv "$scratch/inside.csv"
cmp -s "$scratch/worker.csv" "$scratch/inside.csv" || fail "the worker answers differently"
grep -q ',worker,answered,' "$scratch/worker.csv" || fail "nothing is answered"

# Its own name, where none is given, and what it refuses.
expect_exit 0 score --plugin "$scratch/simulator.so" --csv "$scratch/all.csv"
expect_out "plug-in"
grep -q ',plug-in,refused,.*mixture of experts' "$scratch/all.csv" || fail "no refusal"

# What crashes or hangs costs rows, not the scorecard.
cat >"$scratch/faulty.c" <<'END'
#include <lmsimbench/c.h>
#include <stdlib.h>
#include <unistd.h>

static const lmsb_host *host;
static int asked;

static lmsb_code predict(void *user, const lmsb_workload *workload,
                         const lmsb_system *system, const lmsb_config *config,
                         lmsb_prediction *prediction, lmsb_error *error) {
  (void)user; (void)workload; (void)system; (void)config; (void)error;
  if (++asked % 20 == 0) {
#ifdef HANGS
    for (;;) sleep(1000);
#else
    abort();
#endif
  }
  return host->prediction_set_f64(prediction, "iteration_time_s", 16, 1.0);
}

static const lmsb_simulator_functions simulator = {
    sizeof(lmsb_simulator_functions), 0, "faulty", 0, 0, predict, 0};

lmsb_code lmsb_plugin_open(const lmsb_host *offered, lmsb_plugin *plugin,
                           lmsb_error *error) {
#ifdef REFUSES
  offered->error_set(error, "needs a license", 15);
  return LMSB_PERMISSION_DENIED;
#else
  (void)error;
  host = offered;
  plugin->simulator = &simulator;
  return LMSB_OK;
#endif
}
END
build "$scratch/faulty.c" "$scratch/faulty.so"
expect_exit 0 score --source vtrain --restarts 1000 --plugin "$scratch/faulty.so" --csv "$scratch/faulty.csv"
expect_out "faulty"
grep -q ',faulty,failed,.*signal' "$scratch/faulty.csv" || fail "no row tells of the crash"
grep -q ',faulty,answered,' "$scratch/faulty.csv" || fail "the others are not answered"
{ echo '#define HANGS'; cat "$scratch/faulty.c"; } >"$scratch/hanging.c"
build "$scratch/hanging.c" "$scratch/hanging.so"
expect_exit 0 score --source simumax-b200 --timeout 0.5 --restarts 10 --plugin "$scratch/hanging.so"
expect_out "faulty"
grep -q '[1-9][0-9]* time-outs' "$scratch/err" || fail "no time-out is told"
# Other simulators are scored beside it as ever.
expect_exit 0 score --source vtrain --restarts 0 --plugin "$scratch/faulty.so" --simulator calculon
expect_out "calculon"

# What cannot be loaded is told before anything is asked, with the reason.
expect_exit 1 score --plugin "$scratch/absent.so"
expect_err "absent.so"
echo "no library" >"$scratch/text.so"
expect_exit 1 score --plugin "$scratch/text.so"
expect_err "text.so"
echo "int nothing = 1;" >"$scratch/nothing.c"
build "$scratch/nothing.c" "$scratch/nothing.so"
for how in "" --in-process; do
  expect_exit 1 score $how --plugin "$scratch/nothing.so"
  expect_err "does not export lmsb_plugin_open"
done
{ echo '#define REFUSES'; cat "$scratch/faulty.c"; } >"$scratch/refusing.c"
build "$scratch/refusing.c" "$scratch/refusing.so"
expect_exit 1 score --plugin "$scratch/refusing.so"
expect_err "needs a license"

# The worker's command is the program's own.
expect_exit 2 serve
expect_exit 2 serve --simulator calculon --plugin "$scratch/simulator.so"

finish
