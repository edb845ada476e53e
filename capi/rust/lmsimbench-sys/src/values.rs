//! Workloads, systems, configurations and predictions, field by field.

use crate::{lmsb_bundle, lmsb_code, lmsb_text};
use std::os::raw::c_char;

opaque! {
    lmsb_workload,
    lmsb_system,
    lmsb_config,
    lmsb_prediction,
}

extern "C" {
    pub fn lmsb_workload_new(out: *mut *mut lmsb_workload) -> lmsb_code;
    pub fn lmsb_workload_from_json(
        out: *mut *mut lmsb_workload,
        json: *const c_char,
        json_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_workload_copy(
        out: *mut *mut lmsb_workload,
        workload: *const lmsb_workload,
    ) -> lmsb_code;
    pub fn lmsb_workload_free(workload: *mut lmsb_workload);
    pub fn lmsb_workload_to_json(
        workload: *const lmsb_workload,
        out: *mut *mut lmsb_text,
    ) -> lmsb_code;
    pub fn lmsb_workload_set_model(
        workload: *mut lmsb_workload,
        bundle: *const lmsb_bundle,
        name: *const c_char,
        name_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_workload_f64(
        workload: *const lmsb_workload,
        field: *const c_char,
        field_length: usize,
        value: *mut f64,
    ) -> lmsb_code;
    pub fn lmsb_workload_i64(
        workload: *const lmsb_workload,
        field: *const c_char,
        field_length: usize,
        value: *mut i64,
    ) -> lmsb_code;
    pub fn lmsb_workload_text(
        workload: *const lmsb_workload,
        field: *const c_char,
        field_length: usize,
        value: *mut *const c_char,
    ) -> lmsb_code;
    pub fn lmsb_workload_count(
        workload: *const lmsb_workload,
        field: *const c_char,
        field_length: usize,
        count: *mut usize,
    ) -> lmsb_code;
    pub fn lmsb_workload_set_f64(
        workload: *mut lmsb_workload,
        field: *const c_char,
        field_length: usize,
        value: f64,
    ) -> lmsb_code;
    pub fn lmsb_workload_set_i64(
        workload: *mut lmsb_workload,
        field: *const c_char,
        field_length: usize,
        value: i64,
    ) -> lmsb_code;
    pub fn lmsb_workload_set_text(
        workload: *mut lmsb_workload,
        field: *const c_char,
        field_length: usize,
        value: *const c_char,
        value_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_workload_set_json(
        workload: *mut lmsb_workload,
        field: *const c_char,
        field_length: usize,
        json: *const c_char,
        json_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_system_new(out: *mut *mut lmsb_system) -> lmsb_code;
    pub fn lmsb_system_from_json(
        out: *mut *mut lmsb_system,
        json: *const c_char,
        json_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_system_find(
        out: *mut *mut lmsb_system,
        bundle: *const lmsb_bundle,
        name: *const c_char,
        name_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_system_copy(out: *mut *mut lmsb_system, system: *const lmsb_system) -> lmsb_code;
    pub fn lmsb_system_free(system: *mut lmsb_system);
    pub fn lmsb_system_to_json(system: *const lmsb_system, out: *mut *mut lmsb_text) -> lmsb_code;
    pub fn lmsb_system_f64(
        system: *const lmsb_system,
        field: *const c_char,
        field_length: usize,
        value: *mut f64,
    ) -> lmsb_code;
    pub fn lmsb_system_i64(
        system: *const lmsb_system,
        field: *const c_char,
        field_length: usize,
        value: *mut i64,
    ) -> lmsb_code;
    pub fn lmsb_system_text(
        system: *const lmsb_system,
        field: *const c_char,
        field_length: usize,
        value: *mut *const c_char,
    ) -> lmsb_code;
    pub fn lmsb_system_count(
        system: *const lmsb_system,
        field: *const c_char,
        field_length: usize,
        count: *mut usize,
    ) -> lmsb_code;
    pub fn lmsb_system_set_f64(
        system: *mut lmsb_system,
        field: *const c_char,
        field_length: usize,
        value: f64,
    ) -> lmsb_code;
    pub fn lmsb_system_set_i64(
        system: *mut lmsb_system,
        field: *const c_char,
        field_length: usize,
        value: i64,
    ) -> lmsb_code;
    pub fn lmsb_system_set_text(
        system: *mut lmsb_system,
        field: *const c_char,
        field_length: usize,
        value: *const c_char,
        value_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_system_set_json(
        system: *mut lmsb_system,
        field: *const c_char,
        field_length: usize,
        json: *const c_char,
        json_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_config_new(out: *mut *mut lmsb_config) -> lmsb_code;
    pub fn lmsb_config_from_json(
        out: *mut *mut lmsb_config,
        json: *const c_char,
        json_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_config_find(
        out: *mut *mut lmsb_config,
        bundle: *const lmsb_bundle,
        record: *const c_char,
        record_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_config_copy(out: *mut *mut lmsb_config, config: *const lmsb_config) -> lmsb_code;
    pub fn lmsb_config_free(config: *mut lmsb_config);
    pub fn lmsb_config_to_json(config: *const lmsb_config, out: *mut *mut lmsb_text) -> lmsb_code;
    pub fn lmsb_config_check(
        config: *const lmsb_config,
        workload: *const lmsb_workload,
        devices: i64,
    ) -> lmsb_code;
    pub fn lmsb_config_nearest_legal(
        out: *mut *mut lmsb_config,
        config: *const lmsb_config,
        workload: *const lmsb_workload,
        devices: i64,
    ) -> lmsb_code;
    pub fn lmsb_config_f64(
        config: *const lmsb_config,
        field: *const c_char,
        field_length: usize,
        value: *mut f64,
    ) -> lmsb_code;
    pub fn lmsb_config_i64(
        config: *const lmsb_config,
        field: *const c_char,
        field_length: usize,
        value: *mut i64,
    ) -> lmsb_code;
    pub fn lmsb_config_text(
        config: *const lmsb_config,
        field: *const c_char,
        field_length: usize,
        value: *mut *const c_char,
    ) -> lmsb_code;
    pub fn lmsb_config_count(
        config: *const lmsb_config,
        field: *const c_char,
        field_length: usize,
        count: *mut usize,
    ) -> lmsb_code;
    pub fn lmsb_config_set_f64(
        config: *mut lmsb_config,
        field: *const c_char,
        field_length: usize,
        value: f64,
    ) -> lmsb_code;
    pub fn lmsb_config_set_i64(
        config: *mut lmsb_config,
        field: *const c_char,
        field_length: usize,
        value: i64,
    ) -> lmsb_code;
    pub fn lmsb_config_set_text(
        config: *mut lmsb_config,
        field: *const c_char,
        field_length: usize,
        value: *const c_char,
        value_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_config_set_json(
        config: *mut lmsb_config,
        field: *const c_char,
        field_length: usize,
        json: *const c_char,
        json_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_prediction_new(out: *mut *mut lmsb_prediction) -> lmsb_code;
    pub fn lmsb_prediction_free(prediction: *mut lmsb_prediction);
    pub fn lmsb_prediction_to_json(
        prediction: *const lmsb_prediction,
        out: *mut *mut lmsb_text,
    ) -> lmsb_code;
    pub fn lmsb_prediction_f64(
        prediction: *const lmsb_prediction,
        field: *const c_char,
        field_length: usize,
        value: *mut f64,
    ) -> lmsb_code;
    pub fn lmsb_prediction_i64(
        prediction: *const lmsb_prediction,
        field: *const c_char,
        field_length: usize,
        value: *mut i64,
    ) -> lmsb_code;
    pub fn lmsb_prediction_text(
        prediction: *const lmsb_prediction,
        field: *const c_char,
        field_length: usize,
        value: *mut *const c_char,
    ) -> lmsb_code;
    pub fn lmsb_prediction_count(
        prediction: *const lmsb_prediction,
        field: *const c_char,
        field_length: usize,
        count: *mut usize,
    ) -> lmsb_code;
    pub fn lmsb_prediction_set_f64(
        prediction: *mut lmsb_prediction,
        field: *const c_char,
        field_length: usize,
        value: f64,
    ) -> lmsb_code;
    pub fn lmsb_prediction_set_i64(
        prediction: *mut lmsb_prediction,
        field: *const c_char,
        field_length: usize,
        value: i64,
    ) -> lmsb_code;
    pub fn lmsb_prediction_set_text(
        prediction: *mut lmsb_prediction,
        field: *const c_char,
        field_length: usize,
        value: *const c_char,
        value_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_prediction_set_json(
        prediction: *mut lmsb_prediction,
        field: *const c_char,
        field_length: usize,
        json: *const c_char,
        json_length: usize,
    ) -> lmsb_code;
}
