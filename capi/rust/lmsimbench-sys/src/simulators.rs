//! Simulators and workspaces.

use crate::{
    lmsb_bundle, lmsb_code, lmsb_config, lmsb_cost_model, lmsb_error, lmsb_prediction, lmsb_system,
    lmsb_workload,
};
use std::os::raw::{c_char, c_void};

opaque! {
    lmsb_simulator,
    lmsb_workspace,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_simulator_functions {
    pub struct_size: usize,
    pub user: *mut c_void,
    pub name: *const c_char,
    pub thread_safe: i32,
    pub reserved: i32,
    pub predict: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            workload: *const lmsb_workload,
            system: *const lmsb_system,
            config: *const lmsb_config,
            prediction: *mut lmsb_prediction,
            error: *mut lmsb_error,
        ) -> lmsb_code,
    >,
    pub destroy: Option<unsafe extern "C" fn(user: *mut c_void)>,
}

extern "C" {
    pub fn lmsb_simulator_new(
        out: *mut *mut lmsb_simulator,
        functions: *const lmsb_simulator_functions,
    ) -> lmsb_code;
    pub fn lmsb_simulator_built_in(
        out: *mut *mut lmsb_simulator,
        bundle: *const lmsb_bundle,
        name: *const c_char,
        name_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_simulator_staged(
        out: *mut *mut lmsb_simulator,
        name: *const c_char,
        name_length: usize,
        model: *const lmsb_cost_model,
    ) -> lmsb_code;
    pub fn lmsb_simulator_free(simulator: *mut lmsb_simulator);
    pub fn lmsb_simulator_name(simulator: *const lmsb_simulator) -> *const c_char;
    pub fn lmsb_workspace_new(out: *mut *mut lmsb_workspace) -> lmsb_code;
    pub fn lmsb_workspace_free(workspace: *mut lmsb_workspace);
    pub fn lmsb_simulator_predict(
        simulator: *const lmsb_simulator,
        workload: *const lmsb_workload,
        system: *const lmsb_system,
        config: *const lmsb_config,
        workspace: *mut lmsb_workspace,
        prediction: *mut lmsb_prediction,
    ) -> lmsb_code;
}
