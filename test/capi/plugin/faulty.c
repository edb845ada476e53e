/* Plug-ins that cannot be loaded; FAULT says what is wrong with them. */
#include "lmsimbench/c.h"

#define FAULT_NO_SYMBOL 1
#define FAULT_REFUSES 2
#define FAULT_REFUSES_WITHOUT_TEXT 3
#define FAULT_OFFERS_NOTHING 4
#define FAULT_SHORT_STRUCT 5
#define FAULT_NO_NAME 6

#if FAULT == FAULT_NO_SYMBOL
#define OPEN plugin_open
#else
#define OPEN lmsb_plugin_open
#endif

lmsb_code OPEN(const lmsb_host *host, lmsb_plugin *plugin, lmsb_error *error);
lmsb_code OPEN(const lmsb_host *host, lmsb_plugin *plugin, lmsb_error *error) {
  static lmsb_simulator_functions functions;
  static const char reason[] = "no licence for this machine";
  functions.struct_size = sizeof(functions);
  functions.name = "faulty";
  plugin->simulator = &functions;
  switch (FAULT) {
    case FAULT_REFUSES:
      host->error_set(error, reason, sizeof(reason) - 1);
      return LMSB_PERMISSION_DENIED;
    case FAULT_REFUSES_WITHOUT_TEXT:
      return LMSB_UNAVAILABLE;
    case FAULT_OFFERS_NOTHING:
      plugin->simulator = NULL;
      break;
    case FAULT_SHORT_STRUCT:
      functions.struct_size = 16;
      break;
    case FAULT_NO_NAME:
      functions.name = NULL;
      break;
    default:
      break;
  }
  return LMSB_OK;
}
