/* A simulator as a plug-in: links nothing of the library. Says one second for
 * each sequence of the global batch, and refuses mixtures of experts. */
#include <string.h>

#include "lmsimbench/c.h"

#define FIELD(name) (name), (sizeof(name) - 1)

static const lmsb_host *host;

static lmsb_code predict(void *user, const lmsb_workload *workload,
                         const lmsb_system *system, const lmsb_config *config,
                         lmsb_prediction *prediction, lmsb_error *error) {
  int64_t experts = 0;
  int64_t batch = 0;
  (void)user;
  (void)system;
  (void)config;
  if (host->workload_i64(workload, FIELD("model.experts"), &experts) !=
          LMSB_OK ||
      host->workload_i64(workload, FIELD("global_batch"), &batch) != LMSB_OK) {
    const char *const reason = host->last_error();
    host->error_set(error, reason, strlen(reason));
    return LMSB_INTERNAL;
  }
  if (experts > 0) {
    host->error_set(error, FIELD("no mixture of experts"));
    return LMSB_UNIMPLEMENTED;
  }
  return host->prediction_set_f64(prediction, FIELD("iteration_time_s"),
                                  (double)batch);
}

lmsb_code lmsb_plugin_open(const lmsb_host *given, lmsb_plugin *plugin,
                           lmsb_error *error);
lmsb_code lmsb_plugin_open(const lmsb_host *given, lmsb_plugin *plugin,
                           lmsb_error *error) {
  static lmsb_simulator_functions functions;
  if (given->struct_size < sizeof(lmsb_host)) {
    given->error_set(error, FIELD("the host is older than this plug-in"));
    return LMSB_UNIMPLEMENTED;
  }
  host = given;
  functions.struct_size = sizeof(functions);
  functions.name = "one second a sequence";
  functions.thread_safe = 1;
  functions.predict = predict;
  plugin->simulator = &functions;
  return LMSB_OK;
}
