//! Sizes, offsets and constants are those that test/capi/abi_test.c fixes.

use lmsimbench_sys::*;
use std::collections::BTreeMap;
use std::fs;
use std::mem::{size_of, MaybeUninit};
use std::path::Path;
use std::ptr::addr_of;

type Numbers = BTreeMap<String, usize>;

/// Adds the size of a struct and the offset of each of its fields.
macro_rules! layout {
    ($numbers:ident, $name:ident { $($field:ident),+ $(,)? }) => {{
        let place = MaybeUninit::<$name>::uninit();
        let base = place.as_ptr();
        $numbers.insert(stringify!($name).to_string(), size_of::<$name>());
        $(
            // SAFETY: only the address of the field is taken, within `place`.
            let field = unsafe { addr_of!((*base).$field) };
            let key = concat!(stringify!($name), ".", stringify!($field));
            $numbers.insert(key.to_string(), field as usize - base as usize);
        )+
    }};
}

macro_rules! constants {
    ($numbers:ident, $($name:ident),+ $(,)?) => {
        $($numbers.insert(stringify!($name).to_string(), $name as usize);)+
    };
}

/// What abi_test.c states: SIZE(type, n), OFFSET(type, field, n) and
/// CONSTANT(name, n).
fn fixed() -> Numbers {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../test/capi/abi_test.c");
    let source = fs::read_to_string(&path).unwrap();
    let mut numbers = Numbers::new();
    for line in source.lines() {
        let statement = match line.strip_suffix(");").and_then(|l| l.split_once('(')) {
            Some(("SIZE" | "OFFSET" | "CONSTANT", statement)) => statement,
            _ => continue,
        };
        let (name, number) = statement.rsplit_once(", ").unwrap();
        numbers.insert(name.replace(", ", "."), number.parse().unwrap());
    }
    numbers
}

fn of_this_crate() -> Numbers {
    let mut numbers = Numbers::new();
    constants!(
        numbers,
        LMSB_ABI_VERSION,
        LMSB_OK,
        LMSB_CANCELLED,
        LMSB_UNKNOWN,
        LMSB_INVALID_ARGUMENT,
        LMSB_DEADLINE_EXCEEDED,
        LMSB_NOT_FOUND,
        LMSB_ALREADY_EXISTS,
        LMSB_PERMISSION_DENIED,
        LMSB_RESOURCE_EXHAUSTED,
        LMSB_FAILED_PRECONDITION,
        LMSB_ABORTED,
        LMSB_OUT_OF_RANGE,
        LMSB_UNIMPLEMENTED,
        LMSB_INTERNAL,
        LMSB_UNAVAILABLE,
        LMSB_DATA_LOSS,
        LMSB_UNAUTHENTICATED,
        LMSB_COLUMN_F64,
        LMSB_COLUMN_I64,
        LMSB_COLUMN_STRING,
        LMSB_EVIDENCE_NOT_ANSWERED,
        LMSB_EVIDENCE_MEASURED,
        LMSB_EVIDENCE_INTERPOLATED,
        LMSB_EVIDENCE_EXTRAPOLATED,
        LMSB_EVIDENCE_ANALYTIC,
        LMSB_OPERATOR_NOT_STATED,
        LMSB_OPERATOR_EMBEDDING,
        LMSB_OPERATOR_POSITION_EMBEDDING,
        LMSB_OPERATOR_EMBEDDING_DROPOUT,
        LMSB_OPERATOR_NORM,
        LMSB_OPERATOR_QKV_PROJECTION,
        LMSB_OPERATOR_QK_NORM,
        LMSB_OPERATOR_ROTARY,
        LMSB_OPERATOR_ATTENTION,
        LMSB_OPERATOR_ATTENTION_SCORES,
        LMSB_OPERATOR_SOFTMAX,
        LMSB_OPERATOR_ATTENTION_DROPOUT,
        LMSB_OPERATOR_ATTENTION_VALUES,
        LMSB_OPERATOR_OUTPUT_PROJECTION,
        LMSB_OPERATOR_RESIDUAL,
        LMSB_OPERATOR_MLP_UP,
        LMSB_OPERATOR_MLP_ACTIVATION,
        LMSB_OPERATOR_MLP_DOWN,
        LMSB_OPERATOR_OUTPUT_LAYER,
        LMSB_OPERATOR_CROSS_ENTROPY,
        LMSB_OPERATOR_GRADIENT_NORM,
        LMSB_OPERATOR_OPTIMIZER,
        LMSB_OPERATOR_LATENT_DOWN,
        LMSB_OPERATOR_LATENT_NORM,
        LMSB_OPERATOR_LATENT_UP,
        LMSB_OPERATOR_RING_MERGE,
        LMSB_OPERATOR_ROUTER,
        LMSB_OPERATOR_ROUTING,
        LMSB_OPERATOR_PERMUTE,
        LMSB_OPERATOR_UNPERMUTE,
        LMSB_OPERATOR_EXPERT_UP,
        LMSB_OPERATOR_EXPERT_ACTIVATION,
        LMSB_OPERATOR_EXPERT_DOWN,
        LMSB_OPERATOR_SHARED_EXPERT_UP,
        LMSB_OPERATOR_SHARED_EXPERT_ACTIVATION,
        LMSB_OPERATOR_SHARED_EXPERT_DOWN,
        LMSB_OPERATOR_MULTI_TOKEN_PROJECTION,
        LMSB_OPERATOR_HOST_COPY,
        LMSB_PASS_NOT_STATED,
        LMSB_PASS_FORWARD,
        LMSB_PASS_INPUT_GRADIENT,
        LMSB_PASS_WEIGHT_GRADIENT,
        LMSB_PASS_OPTIMIZER,
        LMSB_COMPUTATION_MATRIX_MULTIPLICATION,
        LMSB_COMPUTATION_ATTENTION,
        LMSB_COMPUTATION_ELEMENTWISE,
        LMSB_COMPUTATION_HOST,
        LMSB_PRECISION_NOT_STATED,
        LMSB_PRECISION_FP32,
        LMSB_PRECISION_TF32,
        LMSB_PRECISION_FP16,
        LMSB_PRECISION_BF16,
        LMSB_PRECISION_AMP,
        LMSB_PRECISION_FP8,
        LMSB_PRECISION_FP8_CURRENT_SCALING,
        LMSB_PRECISION_FP8_ROWWISE,
        LMSB_PRECISION_FP8_TENSORWISE,
        LMSB_PRECISION_MXFP8,
        LMSB_PRECISION_FP8_MX,
        LMSB_PRECISION_NVFP4,
        LMSB_COLLECTIVE_NOT_STATED,
        LMSB_COLLECTIVE_ALL_REDUCE,
        LMSB_COLLECTIVE_ALL_GATHER,
        LMSB_COLLECTIVE_REDUCE_SCATTER,
        LMSB_COLLECTIVE_ALL_TO_ALL,
        LMSB_COLLECTIVE_BROADCAST,
        LMSB_COLLECTIVE_SEND_RECEIVE,
        LMSB_GROUP_NOT_STATED,
        LMSB_GROUP_TENSOR,
        LMSB_GROUP_DATA,
        LMSB_GROUP_SHARD,
        LMSB_GROUP_REPLICA,
        LMSB_GROUP_PIPELINE,
        LMSB_GROUP_EMBEDDING,
        LMSB_GROUP_MODEL,
        LMSB_GROUP_WORLD,
        LMSB_GROUP_CONTEXT,
        LMSB_GROUP_CONTEXT_INNER,
        LMSB_GROUP_CONTEXT_OUTER,
        LMSB_GROUP_EXPERT,
        LMSB_GROUP_EXPERT_TENSOR,
        LMSB_GROUP_EXPERT_REGION,
        LMSB_GROUP_EXPERT_DATA,
        LMSB_VERDICT_NOT_ANSWERED,
        LMSB_VERDICT_FITS,
        LMSB_VERDICT_DOES_NOT_FIT,
        LMSB_VERDICT_ILLEGAL
    );
    layout!(numbers, lmsb_u8_column { first, stride });
    layout!(numbers, lmsb_i32_column { first, stride });
    layout!(numbers, lmsb_i64_column { first, stride });
    layout!(numbers, lmsb_f64_column { first, stride });
    layout!(
        numbers,
        lmsb_operator_batch {
            struct_size,
            count,
            kind,
            pass,
            computation,
            precision,
            batch,
            m,
            n,
            k,
            query_tokens,
            key_tokens,
            heads,
            kv_heads,
            head_dim,
            causal,
            window,
            rows,
            width,
            flops,
            bytes,
            value_head_dim
        }
    );
    layout!(
        numbers,
        lmsb_collective_batch {
            struct_size,
            count,
            kind,
            group,
            bytes,
            members,
            nodes,
            members_per_node,
            level
        }
    );
    layout!(
        numbers,
        lmsb_cost_model_functions {
            struct_size,
            user,
            name,
            thread_safe,
            reserved,
            operator_costs,
            collective_costs,
            destroy
        }
    );
    layout!(
        numbers,
        lmsb_simulator_functions {
            struct_size,
            user,
            name,
            thread_safe,
            reserved,
            predict,
            destroy
        }
    );
    layout!(
        numbers,
        lmsb_selection {
            struct_size,
            split,
            source,
            platform
        }
    );
    layout!(
        numbers,
        lmsb_ask_options {
            struct_size,
            selection,
            calibration_runs,
            threads,
            progress,
            progress_user
        }
    );
    layout!(
        numbers,
        lmsb_answer_columns {
            struct_size,
            count,
            records,
            iteration_time_s,
            peak_memory_bytes,
            verdicts,
            refusals
        }
    );
    layout!(
        numbers,
        lmsb_score_options {
            struct_size,
            selection,
            memory_margin,
            false_fit_cost,
            false_refusal_cost
        }
    );
    layout!(
        numbers,
        lmsb_host {
            struct_size,
            abi_version,
            reserved,
            last_error,
            error_set,
            workload_f64,
            workload_i64,
            workload_text,
            workload_count,
            workload_to_json,
            system_f64,
            system_i64,
            system_text,
            system_count,
            system_to_json,
            config_f64,
            config_i64,
            config_text,
            config_count,
            config_to_json,
            prediction_set_f64,
            prediction_set_i64,
            prediction_set_text,
            prediction_set_json,
            text_data,
            text_length,
            text_free
        }
    );
    layout!(
        numbers,
        lmsb_plugin {
            struct_size,
            simulator,
            cost_model
        }
    );
    numbers
}

#[test]
fn sizes_offsets_and_constants_are_the_fixed_ones() {
    let fixed = fixed();
    let ours = of_this_crate();
    for (name, number) in &fixed {
        assert_eq!(ours.get(name), Some(number), "{name}");
    }
    for name in ours.keys() {
        assert!(fixed.contains_key(name), "abi_test.c does not fix {name}");
    }
    assert!(fixed.len() > 200);
}

#[test]
fn opaque_types_have_no_size() {
    assert_eq!(size_of::<lmsb_bundle>(), 0);
    assert_eq!(size_of::<lmsb_simulator>(), 0);
}

/// Every function of the host's table has the type of its namesake: this does
/// not compile otherwise.
#[test]
fn the_hosts_table_holds_the_functions_of_the_same_name() {
    let host = lmsb_host {
        struct_size: size_of::<lmsb_host>(),
        abi_version: LMSB_ABI_VERSION,
        reserved: 0,
        last_error: Some(lmsb_last_error),
        error_set: Some(lmsb_error_set),
        workload_f64: Some(lmsb_workload_f64),
        workload_i64: Some(lmsb_workload_i64),
        workload_text: Some(lmsb_workload_text),
        workload_count: Some(lmsb_workload_count),
        workload_to_json: Some(lmsb_workload_to_json),
        system_f64: Some(lmsb_system_f64),
        system_i64: Some(lmsb_system_i64),
        system_text: Some(lmsb_system_text),
        system_count: Some(lmsb_system_count),
        system_to_json: Some(lmsb_system_to_json),
        config_f64: Some(lmsb_config_f64),
        config_i64: Some(lmsb_config_i64),
        config_text: Some(lmsb_config_text),
        config_count: Some(lmsb_config_count),
        config_to_json: Some(lmsb_config_to_json),
        prediction_set_f64: Some(lmsb_prediction_set_f64),
        prediction_set_i64: Some(lmsb_prediction_set_i64),
        prediction_set_text: Some(lmsb_prediction_set_text),
        prediction_set_json: Some(lmsb_prediction_set_json),
        text_data: Some(lmsb_text_data),
        text_length: Some(lmsb_text_length),
        text_free: Some(lmsb_text_free),
    };
    // SAFETY: the table lives for ever.
    let table = unsafe { &*lmsb_host_table() };
    assert_eq!(table.struct_size, host.struct_size);
    assert_eq!(table.abi_version, host.abi_version);
    assert!(table.text_free.is_some());
}

#[test]
fn the_library_that_is_loaded_is_of_this_version() {
    // SAFETY: it takes no arguments.
    assert_eq!(unsafe { lmsb_abi_version() }, LMSB_ABI_VERSION);
}
