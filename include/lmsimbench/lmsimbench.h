#pragma once

/// \file
/// Everything of lmsimbench but the formatting of its values (`fmt.h`).

#include "lmsimbench/bundle.h"
#include "lmsimbench/counts.h"
#include "lmsimbench/json.h"
#include "lmsimbench/layout.h"
#include "lmsimbench/legality.h"
#include "lmsimbench/linked_rows.h"
#include "lmsimbench/lookup.h"
#include "lmsimbench/measured_run.h"
#include "lmsimbench/model_spec.h"
#include "lmsimbench/nearest_name.h"
#include "lmsimbench/parallel_config.h"
#include "lmsimbench/prediction.h"
#include "lmsimbench/profile_view.h"
#include "lmsimbench/simulator.h"
#include "lmsimbench/system.h"
#include "lmsimbench/values.h"
#include "lmsimbench/version.h"
#include "lmsimbench/workload.h"
#include "lmsimbench/workspace.h"
