/* The header as a plug-in may have it that was built when the host's table was
 * shorter: the same declarations, cut off behind its first functions. */
#ifndef LMSIMBENCH_TEST_OLDER_H_
#define LMSIMBENCH_TEST_OLDER_H_

#include <stddef.h>
#include <stdint.h>

typedef int32_t lmsb_code;
enum { LMSB_OK = 0, LMSB_UNIMPLEMENTED = 12 };

typedef struct lmsb_workload lmsb_workload;
typedef struct lmsb_system lmsb_system;
typedef struct lmsb_config lmsb_config;
typedef struct lmsb_prediction lmsb_prediction;
typedef struct lmsb_error lmsb_error;

typedef struct lmsb_simulator_functions {
  size_t struct_size;
  void *user;
  const char *name;
  int32_t thread_safe;
  int32_t reserved;
  lmsb_code (*predict)(void *user, const lmsb_workload *workload,
                       const lmsb_system *system, const lmsb_config *config,
                       lmsb_prediction *prediction, lmsb_error *error);
  void (*destroy)(void *user);
} lmsb_simulator_functions;

typedef struct lmsb_host {
  size_t struct_size;
  uint32_t abi_version;
  uint32_t reserved;
  const char *(*last_error)(void);
  void (*error_set)(lmsb_error *error, const char *text, size_t text_length);
  lmsb_code (*workload_f64)(const lmsb_workload *workload, const char *field,
                            size_t field_length, double *value);
} lmsb_host;

typedef struct lmsb_plugin {
  size_t struct_size;
  const lmsb_simulator_functions *simulator;
} lmsb_plugin;

#endif /* LMSIMBENCH_TEST_OLDER_H_ */
