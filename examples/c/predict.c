/*
 * How long does an iteration take, does it fit, and where does the time go? The
 * staged simulator is asked about a model under several divisions of 16
 * devices.
 */
#include <inttypes.h>
#include <lmsimbench/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) (literal), (sizeof(literal) - 1)

static void need(lmsb_code code) {
  if (code == LMSB_OK) return;
  fprintf(stderr, "%s: %s\n", lmsb_code_name(code), lmsb_last_error());
  exit(1);
}

int main(void) {
  lmsb_bundle *bundle = NULL;
  lmsb_workload *workload = NULL;
  lmsb_system *system = NULL;
  lmsb_config *config = NULL;
  lmsb_simulator *simulator = NULL;
  lmsb_workspace *workspace = NULL;
  lmsb_prediction *prediction = NULL;
  /* 3 does not divide the heads: the message says what would. */
  static const int64_t sizes[] = {1, 2, 3, 4, 8};
  size_t i;

  need(lmsb_bundle_open_embedded(&bundle));
  need(lmsb_workload_new(&workload));
  need(lmsb_workload_set_model(workload, bundle, TEXT("megatron-22B")));
  need(lmsb_workload_set_i64(workload, TEXT("seq_len"), 2048));
  need(lmsb_workload_set_i64(workload, TEXT("global_batch"), 16));
  need(lmsb_workload_set_text(workload, TEXT("precision"), TEXT("bf16")));
  need(lmsb_system_find(&system, bundle, TEXT("a100-sxm4-80g")));
  need(lmsb_system_set_i64(system, TEXT("devices"), 16));
  need(lmsb_config_new(&config));
  need(lmsb_config_set_i64(config, TEXT("micro_batch"), 1));
  need(lmsb_config_set_text(config, TEXT("recompute"), TEXT("selective")));
  need(lmsb_simulator_built_in(&simulator, bundle, TEXT("staged")));
  need(lmsb_workspace_new(&workspace));
  need(lmsb_prediction_new(&prediction));

  printf("tp  pp      time  bubble    memory\n");
  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    const int64_t tp = sizes[i];
    double time_s = 0;
    double bubble_s = 0;
    double memory = 0;
    const char *verdict = NULL;
    const int64_t pp = 16 / tp;
    lmsb_code code;
    need(lmsb_config_set_i64(config, TEXT("tp"), tp));
    need(lmsb_config_set_i64(config, TEXT("pp"), pp));
    code = lmsb_simulator_predict(simulator, workload, system, config,
                                  workspace, prediction);
    if (code != LMSB_OK) {
      printf("%2" PRId64 "  %2" PRId64 "  %s\n", tp, pp, lmsb_last_error());
      continue;
    }
    need(lmsb_prediction_f64(prediction, TEXT("iteration_time_s"), &time_s));
    need(lmsb_prediction_f64(prediction, TEXT("time.bubble_s"), &bubble_s));
    need(lmsb_prediction_f64(prediction, TEXT("peak_memory_bytes"), &memory));
    need(lmsb_prediction_text(prediction, TEXT("verdict"), &verdict));
    printf("%2" PRId64 "  %2" PRId64 "  %6.2f s  %4.0f %%  %4.0f GiB  %s\n", tp,
           pp, time_s, 100 * bubble_s / time_s, memory / (1 << 30), verdict);
  }

  lmsb_prediction_free(prediction);
  lmsb_workspace_free(workspace);
  lmsb_simulator_free(simulator);
  lmsb_config_free(config);
  lmsb_system_free(system);
  lmsb_workload_free(workload);
  lmsb_bundle_free(bundle);
  return 0;
}
