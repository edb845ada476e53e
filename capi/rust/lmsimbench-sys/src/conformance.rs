//! Checks of plug-ins.

use crate::{
    lmsb_bundle, lmsb_code, lmsb_cost_model_functions, lmsb_simulator_functions, lmsb_text,
};

extern "C" {
    pub fn lmsb_cost_model_check(
        out: *mut *mut lmsb_text,
        bundle: *const lmsb_bundle,
        functions: *const lmsb_cost_model_functions,
    ) -> lmsb_code;
    pub fn lmsb_simulator_check(
        out: *mut *mut lmsb_text,
        bundle: *const lmsb_bundle,
        functions: *const lmsb_simulator_functions,
    ) -> lmsb_code;
}
