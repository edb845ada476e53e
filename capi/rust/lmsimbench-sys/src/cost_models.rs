//! Cost models, and the batches in which they are asked.

use crate::{lmsb_bundle, lmsb_code, lmsb_system};
use std::os::raw::{c_char, c_void};

opaque! {
    lmsb_cost_model,
    lmsb_error,
}

pub const LMSB_EVIDENCE_NOT_ANSWERED: i32 = 0;
pub const LMSB_EVIDENCE_MEASURED: i32 = 1;
pub const LMSB_EVIDENCE_INTERPOLATED: i32 = 2;
pub const LMSB_EVIDENCE_EXTRAPOLATED: i32 = 3;
pub const LMSB_EVIDENCE_ANALYTIC: i32 = 4;

pub const LMSB_OPERATOR_NOT_STATED: i32 = 0;
pub const LMSB_OPERATOR_EMBEDDING: i32 = 1;
pub const LMSB_OPERATOR_POSITION_EMBEDDING: i32 = 2;
pub const LMSB_OPERATOR_EMBEDDING_DROPOUT: i32 = 3;
pub const LMSB_OPERATOR_NORM: i32 = 4;
pub const LMSB_OPERATOR_QKV_PROJECTION: i32 = 5;
pub const LMSB_OPERATOR_QK_NORM: i32 = 6;
pub const LMSB_OPERATOR_ROTARY: i32 = 7;
pub const LMSB_OPERATOR_ATTENTION: i32 = 8;
pub const LMSB_OPERATOR_ATTENTION_SCORES: i32 = 9;
pub const LMSB_OPERATOR_SOFTMAX: i32 = 10;
pub const LMSB_OPERATOR_ATTENTION_DROPOUT: i32 = 11;
pub const LMSB_OPERATOR_ATTENTION_VALUES: i32 = 12;
pub const LMSB_OPERATOR_OUTPUT_PROJECTION: i32 = 13;
pub const LMSB_OPERATOR_RESIDUAL: i32 = 14;
pub const LMSB_OPERATOR_MLP_UP: i32 = 15;
pub const LMSB_OPERATOR_MLP_ACTIVATION: i32 = 16;
pub const LMSB_OPERATOR_MLP_DOWN: i32 = 17;
pub const LMSB_OPERATOR_OUTPUT_LAYER: i32 = 18;
pub const LMSB_OPERATOR_CROSS_ENTROPY: i32 = 19;
pub const LMSB_OPERATOR_GRADIENT_NORM: i32 = 20;
pub const LMSB_OPERATOR_OPTIMIZER: i32 = 21;
pub const LMSB_OPERATOR_LATENT_DOWN: i32 = 22;
pub const LMSB_OPERATOR_LATENT_NORM: i32 = 23;
pub const LMSB_OPERATOR_LATENT_UP: i32 = 24;
pub const LMSB_OPERATOR_RING_MERGE: i32 = 25;
pub const LMSB_OPERATOR_ROUTER: i32 = 26;
pub const LMSB_OPERATOR_ROUTING: i32 = 27;
pub const LMSB_OPERATOR_PERMUTE: i32 = 28;
pub const LMSB_OPERATOR_UNPERMUTE: i32 = 29;
pub const LMSB_OPERATOR_EXPERT_UP: i32 = 30;
pub const LMSB_OPERATOR_EXPERT_ACTIVATION: i32 = 31;
pub const LMSB_OPERATOR_EXPERT_DOWN: i32 = 32;
pub const LMSB_OPERATOR_SHARED_EXPERT_UP: i32 = 33;
pub const LMSB_OPERATOR_SHARED_EXPERT_ACTIVATION: i32 = 34;
pub const LMSB_OPERATOR_SHARED_EXPERT_DOWN: i32 = 35;
pub const LMSB_OPERATOR_MULTI_TOKEN_PROJECTION: i32 = 36;
pub const LMSB_OPERATOR_HOST_COPY: i32 = 37;

pub const LMSB_PASS_NOT_STATED: i32 = 0;
pub const LMSB_PASS_FORWARD: i32 = 1;
pub const LMSB_PASS_INPUT_GRADIENT: i32 = 2;
pub const LMSB_PASS_WEIGHT_GRADIENT: i32 = 3;
pub const LMSB_PASS_OPTIMIZER: i32 = 4;

pub const LMSB_COMPUTATION_MATRIX_MULTIPLICATION: i32 = 0;
pub const LMSB_COMPUTATION_ATTENTION: i32 = 1;
pub const LMSB_COMPUTATION_ELEMENTWISE: i32 = 2;
pub const LMSB_COMPUTATION_HOST: i32 = 3;

pub const LMSB_PRECISION_NOT_STATED: i32 = 0;
pub const LMSB_PRECISION_FP32: i32 = 1;
pub const LMSB_PRECISION_TF32: i32 = 2;
pub const LMSB_PRECISION_FP16: i32 = 3;
pub const LMSB_PRECISION_BF16: i32 = 4;
pub const LMSB_PRECISION_AMP: i32 = 5;
pub const LMSB_PRECISION_FP8: i32 = 6;
pub const LMSB_PRECISION_FP8_CURRENT_SCALING: i32 = 7;
pub const LMSB_PRECISION_FP8_ROWWISE: i32 = 8;
pub const LMSB_PRECISION_FP8_TENSORWISE: i32 = 9;
pub const LMSB_PRECISION_MXFP8: i32 = 10;
pub const LMSB_PRECISION_FP8_MX: i32 = 11;
pub const LMSB_PRECISION_NVFP4: i32 = 12;

pub const LMSB_COLLECTIVE_NOT_STATED: i32 = 0;
pub const LMSB_COLLECTIVE_ALL_REDUCE: i32 = 1;
pub const LMSB_COLLECTIVE_ALL_GATHER: i32 = 2;
pub const LMSB_COLLECTIVE_REDUCE_SCATTER: i32 = 3;
pub const LMSB_COLLECTIVE_ALL_TO_ALL: i32 = 4;
pub const LMSB_COLLECTIVE_BROADCAST: i32 = 5;
pub const LMSB_COLLECTIVE_SEND_RECEIVE: i32 = 6;

pub const LMSB_GROUP_NOT_STATED: i32 = 0;
pub const LMSB_GROUP_TENSOR: i32 = 1;
pub const LMSB_GROUP_DATA: i32 = 2;
pub const LMSB_GROUP_SHARD: i32 = 3;
pub const LMSB_GROUP_REPLICA: i32 = 4;
pub const LMSB_GROUP_PIPELINE: i32 = 5;
pub const LMSB_GROUP_EMBEDDING: i32 = 6;
pub const LMSB_GROUP_MODEL: i32 = 7;
pub const LMSB_GROUP_WORLD: i32 = 8;
pub const LMSB_GROUP_CONTEXT: i32 = 9;
pub const LMSB_GROUP_CONTEXT_INNER: i32 = 10;
pub const LMSB_GROUP_CONTEXT_OUTER: i32 = 11;
pub const LMSB_GROUP_EXPERT: i32 = 12;
pub const LMSB_GROUP_EXPERT_TENSOR: i32 = 13;
pub const LMSB_GROUP_EXPERT_REGION: i32 = 14;
pub const LMSB_GROUP_EXPERT_DATA: i32 = 15;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_u8_column {
    pub first: *const u8,
    pub stride: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_i32_column {
    pub first: *const i32,
    pub stride: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_i64_column {
    pub first: *const i64,
    pub stride: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_f64_column {
    pub first: *const f64,
    pub stride: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_operator_batch {
    pub struct_size: usize,
    pub count: usize,
    pub kind: lmsb_u8_column,
    pub pass: lmsb_u8_column,
    pub computation: lmsb_u8_column,
    pub precision: lmsb_u8_column,
    pub batch: lmsb_i64_column,
    pub m: lmsb_i64_column,
    pub n: lmsb_i64_column,
    pub k: lmsb_i64_column,
    pub query_tokens: lmsb_i64_column,
    pub key_tokens: lmsb_i64_column,
    pub heads: lmsb_i64_column,
    pub kv_heads: lmsb_i64_column,
    pub head_dim: lmsb_i64_column,
    pub causal: lmsb_u8_column,
    pub window: lmsb_i64_column,
    pub rows: lmsb_i64_column,
    pub width: lmsb_i64_column,
    pub flops: lmsb_f64_column,
    pub bytes: lmsb_f64_column,
    pub value_head_dim: lmsb_i64_column,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_collective_batch {
    pub struct_size: usize,
    pub count: usize,
    pub kind: lmsb_u8_column,
    pub group: lmsb_u8_column,
    pub bytes: lmsb_i64_column,
    pub members: lmsb_i64_column,
    pub nodes: lmsb_i64_column,
    pub members_per_node: lmsb_i64_column,
    pub level: lmsb_i32_column,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lmsb_cost_model_functions {
    pub struct_size: usize,
    pub user: *mut c_void,
    pub name: *const c_char,
    pub thread_safe: i32,
    pub reserved: i32,
    pub operator_costs: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            system: *const lmsb_system,
            operators: *const lmsb_operator_batch,
            seconds: *mut f64,
            evidence: *mut i32,
            error: *mut lmsb_error,
        ) -> lmsb_code,
    >,
    pub collective_costs: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            system: *const lmsb_system,
            collectives: *const lmsb_collective_batch,
            seconds: *mut f64,
            evidence: *mut i32,
            error: *mut lmsb_error,
        ) -> lmsb_code,
    >,
    pub destroy: Option<unsafe extern "C" fn(user: *mut c_void)>,
}

extern "C" {
    pub fn lmsb_error_set(error: *mut lmsb_error, text: *const c_char, text_length: usize);
    pub fn lmsb_cost_model_new(
        out: *mut *mut lmsb_cost_model,
        functions: *const lmsb_cost_model_functions,
    ) -> lmsb_code;
    pub fn lmsb_cost_model_built_in(
        out: *mut *mut lmsb_cost_model,
        bundle: *const lmsb_bundle,
        name: *const c_char,
        name_length: usize,
    ) -> lmsb_code;
    pub fn lmsb_cost_model_composite(
        out: *mut *mut lmsb_cost_model,
        name: *const c_char,
        name_length: usize,
        parts: *const *const lmsb_cost_model,
        part_count: usize,
    ) -> lmsb_code;
    pub fn lmsb_cost_model_free(model: *mut lmsb_cost_model);
    pub fn lmsb_enumerator_name(
        enumeration: *const c_char,
        enumeration_length: usize,
        value: i32,
    ) -> *const c_char;
    pub fn lmsb_cost_model_name(model: *const lmsb_cost_model) -> *const c_char;
    pub fn lmsb_cost_model_operators(
        model: *const lmsb_cost_model,
        system: *const lmsb_system,
        operators: *const lmsb_operator_batch,
        seconds: *mut f64,
        evidence: *mut i32,
    ) -> lmsb_code;
    pub fn lmsb_cost_model_collectives(
        model: *const lmsb_cost_model,
        system: *const lmsb_system,
        collectives: *const lmsb_collective_batch,
        seconds: *mut f64,
        evidence: *mut i32,
    ) -> lmsb_code;
}
