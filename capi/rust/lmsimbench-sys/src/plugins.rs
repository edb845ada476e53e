//! What a plug-in and its host hand each other.

use crate::{
    lmsb_code, lmsb_config, lmsb_cost_model_functions, lmsb_error, lmsb_prediction, lmsb_simulator,
    lmsb_simulator_functions, lmsb_system, lmsb_text, lmsb_workload,
};
use std::os::raw::c_char;

pub type lmsb_plugin_open_function = Option<
    unsafe extern "C" fn(
        host: *const lmsb_host,
        plugin: *mut lmsb_plugin,
        error: *mut lmsb_error,
    ) -> lmsb_code,
>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_host {
    pub struct_size: usize,
    pub abi_version: u32,
    pub reserved: u32,
    pub last_error: Option<unsafe extern "C" fn() -> *const c_char>,
    pub error_set: Option<
        unsafe extern "C" fn(error: *mut lmsb_error, text: *const c_char, text_length: usize),
    >,
    pub workload_f64: Option<
        unsafe extern "C" fn(
            workload: *const lmsb_workload,
            field: *const c_char,
            field_length: usize,
            value: *mut f64,
        ) -> lmsb_code,
    >,
    pub workload_i64: Option<
        unsafe extern "C" fn(
            workload: *const lmsb_workload,
            field: *const c_char,
            field_length: usize,
            value: *mut i64,
        ) -> lmsb_code,
    >,
    pub workload_text: Option<
        unsafe extern "C" fn(
            workload: *const lmsb_workload,
            field: *const c_char,
            field_length: usize,
            value: *mut *const c_char,
        ) -> lmsb_code,
    >,
    pub workload_count: Option<
        unsafe extern "C" fn(
            workload: *const lmsb_workload,
            field: *const c_char,
            field_length: usize,
            count: *mut usize,
        ) -> lmsb_code,
    >,
    pub workload_to_json: Option<
        unsafe extern "C" fn(workload: *const lmsb_workload, out: *mut *mut lmsb_text) -> lmsb_code,
    >,
    pub system_f64: Option<
        unsafe extern "C" fn(
            system: *const lmsb_system,
            field: *const c_char,
            field_length: usize,
            value: *mut f64,
        ) -> lmsb_code,
    >,
    pub system_i64: Option<
        unsafe extern "C" fn(
            system: *const lmsb_system,
            field: *const c_char,
            field_length: usize,
            value: *mut i64,
        ) -> lmsb_code,
    >,
    pub system_text: Option<
        unsafe extern "C" fn(
            system: *const lmsb_system,
            field: *const c_char,
            field_length: usize,
            value: *mut *const c_char,
        ) -> lmsb_code,
    >,
    pub system_count: Option<
        unsafe extern "C" fn(
            system: *const lmsb_system,
            field: *const c_char,
            field_length: usize,
            count: *mut usize,
        ) -> lmsb_code,
    >,
    pub system_to_json: Option<
        unsafe extern "C" fn(system: *const lmsb_system, out: *mut *mut lmsb_text) -> lmsb_code,
    >,
    pub config_f64: Option<
        unsafe extern "C" fn(
            config: *const lmsb_config,
            field: *const c_char,
            field_length: usize,
            value: *mut f64,
        ) -> lmsb_code,
    >,
    pub config_i64: Option<
        unsafe extern "C" fn(
            config: *const lmsb_config,
            field: *const c_char,
            field_length: usize,
            value: *mut i64,
        ) -> lmsb_code,
    >,
    pub config_text: Option<
        unsafe extern "C" fn(
            config: *const lmsb_config,
            field: *const c_char,
            field_length: usize,
            value: *mut *const c_char,
        ) -> lmsb_code,
    >,
    pub config_count: Option<
        unsafe extern "C" fn(
            config: *const lmsb_config,
            field: *const c_char,
            field_length: usize,
            count: *mut usize,
        ) -> lmsb_code,
    >,
    pub config_to_json: Option<
        unsafe extern "C" fn(config: *const lmsb_config, out: *mut *mut lmsb_text) -> lmsb_code,
    >,
    pub prediction_set_f64: Option<
        unsafe extern "C" fn(
            prediction: *mut lmsb_prediction,
            field: *const c_char,
            field_length: usize,
            value: f64,
        ) -> lmsb_code,
    >,
    pub prediction_set_i64: Option<
        unsafe extern "C" fn(
            prediction: *mut lmsb_prediction,
            field: *const c_char,
            field_length: usize,
            value: i64,
        ) -> lmsb_code,
    >,
    pub prediction_set_text: Option<
        unsafe extern "C" fn(
            prediction: *mut lmsb_prediction,
            field: *const c_char,
            field_length: usize,
            value: *const c_char,
            value_length: usize,
        ) -> lmsb_code,
    >,
    pub prediction_set_json: Option<
        unsafe extern "C" fn(
            prediction: *mut lmsb_prediction,
            field: *const c_char,
            field_length: usize,
            json: *const c_char,
            json_length: usize,
        ) -> lmsb_code,
    >,
    pub text_data: Option<unsafe extern "C" fn(text: *const lmsb_text) -> *const c_char>,
    pub text_length: Option<unsafe extern "C" fn(text: *const lmsb_text) -> usize>,
    pub text_free: Option<unsafe extern "C" fn(text: *mut lmsb_text)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_plugin {
    pub struct_size: usize,
    pub simulator: *const lmsb_simulator_functions,
    pub cost_model: *const lmsb_cost_model_functions,
}

extern "C" {
    pub fn lmsb_host_table() -> *const lmsb_host;
    pub fn lmsb_simulator_load(
        out: *mut *mut lmsb_simulator,
        path: *const c_char,
        path_length: usize,
    ) -> lmsb_code;
}
