/*
 * A simulator as a plug-in: a shared object that links nothing and exports one
 * symbol.
 *
 *     cc -std=c99 -shared -fPIC -I INCLUDE simulator.c -o simulator.so
 *     lmsimbench score --plugin ./simulator.so
 *
 * The model: the operations of the matrices at 40 % of the device's peak, and
 * the bubble of the pipeline. What it does not know it refuses by name.
 */
#include <lmsimbench/c.h>
#include <stddef.h>

/* What the host offers, handed over when the plug-in is opened. */
static const lmsb_host *host;

#define TEXT(literal) (literal), (sizeof(literal) - 1)

static lmsb_code refuse(lmsb_error *error, lmsb_code code, const char *reason,
                        size_t length) {
  host->error_set(error, reason, length);
  return code;
}

/* A count of the workload or of the configuration; `otherwise` where it is not
 * stated, -1 where there is no such field. */
static int64_t of_workload(const lmsb_workload *workload, const char *field,
                           size_t length, int64_t otherwise) {
  int64_t count = -1;
  if (host->workload_i64(workload, field, length, &count) != LMSB_OK) return -1;
  return count < 0 ? otherwise : count;
}
static int64_t of_config(const lmsb_config *config, const char *field,
                         size_t length, int64_t otherwise) {
  int64_t count = -1;
  if (host->config_i64(config, field, length, &count) != LMSB_OK) return -1;
  return count < 0 ? otherwise : count;
}

static lmsb_code predict(void *user, const lmsb_workload *workload,
                         const lmsb_system *system, const lmsb_config *config,
                         lmsb_prediction *prediction, lmsb_error *error) {
  const int64_t experts = of_workload(workload, TEXT("model.experts"), 0);
  const int64_t layers = of_workload(workload, TEXT("model.layers"), 0);
  const int64_t hidden = of_workload(workload, TEXT("model.hidden"), 0);
  const int64_t ffn = of_workload(workload, TEXT("model.ffn"), 4 * hidden);
  const int64_t vocab = of_workload(workload, TEXT("model.vocab"), 0);
  const int64_t gated = of_workload(workload, TEXT("model.gated_mlp"), 0);
  const int64_t tokens = of_workload(workload, TEXT("seq_len"), 0);
  const int64_t batch = of_workload(workload, TEXT("global_batch"), 0);
  const int64_t tp = of_config(config, TEXT("tp"), 1);
  const int64_t pp = of_config(config, TEXT("pp"), 1);
  const int64_t dp = of_config(config, TEXT("dp"), 1);
  const int64_t cp = of_config(config, TEXT("cp"), 1);
  const int64_t micro_batch = of_config(config, TEXT("micro_batch"), 0);
  double peak = 0;
  double parameters;
  double busy_s;
  double bubble_s;
  lmsb_code code;
  (void)user;

  if (experts > 0) {
    return refuse(error, LMSB_UNIMPLEMENTED, TEXT("mixture of experts"));
  }
  if (layers <= 0 || hidden <= 0 || vocab <= 0 || tokens <= 0 || batch <= 0 ||
      micro_batch <= 0) {
    return refuse(error, LMSB_FAILED_PRECONDITION,
                  TEXT("needs layers, hidden, vocab, seq_len, global_batch and "
                       "micro_batch"));
  }
  if (host->system_f64(system, TEXT("accelerator.bf16_flops"), &peak) !=
          LMSB_OK ||
      !(peak > 0)) {
    return refuse(error, LMSB_FAILED_PRECONDITION,
                  TEXT("needs the accelerator's peak"));
  }
  parameters = (double)layers * (double)hidden *
                   (4.0 * (double)hidden +
                    (gated == 1 ? 3.0 : 2.0) * (double)ffn) +
               (double)vocab * (double)hidden;
  busy_s = 6 * parameters * (double)tokens * (double)batch /
           (0.4 * peak * (double)(tp * pp * dp * cp));
  bubble_s = busy_s * (double)(pp - 1) * (double)(micro_batch * dp) /
             (double)batch;
  code = host->prediction_set_f64(prediction, TEXT("iteration_time_s"),
                                  busy_s + bubble_s);
  if (code == LMSB_OK) {
    code = host->prediction_set_f64(prediction, TEXT("time.bubble_s"),
                                    bubble_s);
  }
  if (code == LMSB_OK) {
    code = host->prediction_set_f64(prediction, TEXT("time.other_s"), busy_s);
  }
  return code;
}

static const lmsb_simulator_functions simulator = {
    sizeof(simulator), NULL, "plug-in", 1, 0, predict, NULL};

lmsb_code lmsb_plugin_open(const lmsb_host *offered, lmsb_plugin *plugin,
                           lmsb_error *error);
lmsb_code lmsb_plugin_open(const lmsb_host *offered, lmsb_plugin *plugin,
                           lmsb_error *error) {
  (void)error;
  if (offered->struct_size < sizeof(lmsb_host)) return LMSB_UNIMPLEMENTED;
  host = offered;
  plugin->simulator = &simulator;
  return LMSB_OK;
}
