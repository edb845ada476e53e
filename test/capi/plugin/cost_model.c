/* A cost model as a plug-in: one microsecond for everything. */
#include "lmsimbench/c.h"

static lmsb_code operator_costs(void *user, const lmsb_system *system,
                                const lmsb_operator_batch *operators,
                                double *seconds, int32_t *evidence,
                                lmsb_error *error) {
  size_t i;
  (void)user;
  (void)system;
  (void)error;
  for (i = 0; i < operators->count; ++i) {
    seconds[i] = 1e-6;
    evidence[i] = LMSB_EVIDENCE_ANALYTIC;
  }
  return LMSB_OK;
}

static lmsb_code collective_costs(void *user, const lmsb_system *system,
                                  const lmsb_collective_batch *collectives,
                                  double *seconds, int32_t *evidence,
                                  lmsb_error *error) {
  size_t i;
  (void)user;
  (void)system;
  (void)error;
  for (i = 0; i < collectives->count; ++i) {
    seconds[i] = 1e-6;
    evidence[i] = LMSB_EVIDENCE_ANALYTIC;
  }
  return LMSB_OK;
}

lmsb_code lmsb_plugin_open(const lmsb_host *host, lmsb_plugin *plugin,
                           lmsb_error *error);
lmsb_code lmsb_plugin_open(const lmsb_host *host, lmsb_plugin *plugin,
                           lmsb_error *error) {
  static lmsb_cost_model_functions functions;
  (void)host;
  (void)error;
  functions.struct_size = sizeof(functions);
  functions.name = "one microsecond";
  functions.operator_costs = operator_costs;
  functions.collective_costs = collective_costs;
  plugin->cost_model = &functions;
  return LMSB_OK;
}
