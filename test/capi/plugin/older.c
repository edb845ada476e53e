/* A plug-in that was built against a shorter table of the host. Refuses every
 * question with the global batch as its reason, which shows that it reaches the
 * functions it knows. */
#include "older.h"

static const lmsb_host *host;

static lmsb_code predict(void *user, const lmsb_workload *workload,
                         const lmsb_system *system, const lmsb_config *config,
                         lmsb_prediction *prediction, lmsb_error *error) {
  static const char field[] = "global_batch";
  char reason[] = "a global batch of 0";
  double batch = 0;
  (void)user;
  (void)system;
  (void)config;
  (void)prediction;
  if (host->workload_f64(workload, field, sizeof(field) - 1, &batch) ==
      LMSB_OK) {
    reason[sizeof(reason) - 2] = (char)('0' + (int)batch % 10);
  }
  host->error_set(error, reason, sizeof(reason) - 1);
  return LMSB_UNIMPLEMENTED;
}

lmsb_code lmsb_plugin_open(const lmsb_host *given, lmsb_plugin *plugin,
                           lmsb_error *error);
lmsb_code lmsb_plugin_open(const lmsb_host *given, lmsb_plugin *plugin,
                           lmsb_error *error) {
  static lmsb_simulator_functions functions;
  (void)error;
  if (given->struct_size < sizeof(lmsb_host)) return LMSB_UNIMPLEMENTED;
  host = given;
  functions.struct_size = sizeof(functions);
  functions.name = "older";
  functions.predict = predict;
  plugin->simulator = &functions;
  return LMSB_OK;
}
