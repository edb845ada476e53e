/*
 * A cost model of one's own, scored: matrices at half of the device's peak, the
 * rest by memory, collectives by the library's formulas. It runs through the
 * five stages and is asked about every measured run, beside a built-in
 * simulator.
 */
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

static lmsb_code half_of_peak(void *user, const lmsb_system *system,
                              const lmsb_operator_batch *operators,
                              double *seconds, int32_t *evidence,
                              lmsb_error *error) {
  double peak = 0;
  double bandwidth = 0;
  size_t i;
  (void)user;
  if (lmsb_system_f64(system, TEXT("accelerator.bf16_flops"), &peak) !=
          LMSB_OK ||
      lmsb_system_f64(system, TEXT("accelerator.memory_bandwidth"),
                      &bandwidth) != LMSB_OK) {
    lmsb_error_set(error, TEXT("the system has no such figures"));
    return LMSB_INTERNAL;
  }
  /* What is not stated is NaN, which no comparison holds for. */
  if (!(peak > 0 && bandwidth > 0)) {
    lmsb_error_set(error, TEXT("needs peak and memory bandwidth"));
    return LMSB_FAILED_PRECONDITION;
  }
  for (i = 0; i < operators->count; ++i) {
    const double compute_s = LMSB_F64(operators->flops, i) / (0.5 * peak);
    const double memory_s = LMSB_F64(operators->bytes, i) / (0.8 * bandwidth);
    seconds[i] = compute_s > memory_s ? compute_s : memory_s;
    evidence[i] = LMSB_EVIDENCE_ANALYTIC;
  }
  return LMSB_OK;
}

int main(void) {
  lmsb_bundle *bundle = NULL;
  lmsb_cost_model_functions functions;
  lmsb_cost_model *mine = NULL;
  lmsb_cost_model *collectives = NULL;
  lmsb_cost_model *both = NULL;
  const lmsb_cost_model *parts[2];
  lmsb_simulator *simulators[2] = {NULL, NULL};
  lmsb_measurements *measurements = NULL;
  lmsb_answers *answers[2] = {NULL, NULL};
  lmsb_selection selection;
  lmsb_ask_options ask;
  lmsb_score_options options;
  lmsb_scorecard *card = NULL;
  lmsb_text *text = NULL;
  int i;

  memset(&functions, 0, sizeof(functions));
  functions.struct_size = sizeof(functions);
  functions.name = "half of peak";
  functions.thread_safe = 1;
  functions.operator_costs = half_of_peak;

  need(lmsb_bundle_open_embedded(&bundle));
  need(lmsb_cost_model_new(&mine, &functions));
  need(lmsb_cost_model_built_in(&collectives, bundle, TEXT("collectives")));
  parts[0] = mine;
  parts[1] = collectives;
  need(lmsb_cost_model_composite(&both, TEXT("half of peak"), parts, 2));
  need(lmsb_simulator_staged(&simulators[0], TEXT("half-of-peak"), both));
  need(lmsb_simulator_built_in(&simulators[1], bundle, TEXT("calculon")));

  memset(&selection, 0, sizeof(selection));
  selection.struct_size = sizeof(selection);
  selection.source = "vtrain";
  memset(&ask, 0, sizeof(ask));
  ask.struct_size = sizeof(ask);
  ask.selection = &selection;
  ask.calibration_runs = 1;
  ask.threads = 2;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.selection = &selection;
  options.false_fit_cost = 5;
  options.false_refusal_cost = 1;

  need(lmsb_measurements_open(&measurements, bundle));
  for (i = 0; i < 2; ++i) {
    need(lmsb_answers_ask(&answers[i], simulators[i], measurements, &ask));
  }
  need(lmsb_score(&card, measurements, (const lmsb_answers *const *)answers, 2,
                  &options));
  need(lmsb_scorecard_to_text(card, &text));
  fputs(lmsb_text_data(text), stdout);

  lmsb_text_free(text);
  lmsb_scorecard_free(card);
  for (i = 0; i < 2; ++i) {
    lmsb_answers_free(answers[i]);
    lmsb_simulator_free(simulators[i]);
  }
  lmsb_measurements_free(measurements);
  lmsb_cost_model_free(both);
  lmsb_cost_model_free(collectives);
  lmsb_cost_model_free(mine);
  lmsb_bundle_free(bundle);
  return 0;
}
