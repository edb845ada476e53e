#include "test/simulators/calculon_inputs.h"

#include "lib/simulators/calculon/explain.h"

namespace lmsimbench::calculon {

Outcome EvaluateDocuments(const Documents& documents) {
  Application application;
  Execution execution;
  System system;
  ReadResult result = ReadApplication(documents.application, application);
  if (result.ok()) result = ReadExecution(documents.execution, execution);
  if (result.ok()) result = ReadSystem(documents.system, system);
  Outcome outcome;
  outcome.code = result.code;
  outcome.message = result.message;
  if (!result.ok()) return outcome;
  Workspace workspace;
  outcome.code =
      Evaluate(application, system, execution, workspace, outcome.statistics);
  outcome.message =
      Explain(outcome.code, application, system, execution, outcome.statistics);
  return outcome;
}

}  // namespace lmsimbench::calculon
