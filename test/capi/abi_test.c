/*
 * The binary interface, held in place: every size, offset and constant of c.h
 * on a machine with pointers of 8 bytes. What breaks here breaks plug-ins that
 * are already built. A change before 1.0 is written here by hand, together with
 * its line in the change list of c.h and the new baseline.
 */
#include "lmsimbench/c.h"

#define SIZE(type, size) \
  _Static_assert(sizeof(type) == (size), "size of " #type)
#define OFFSET(type, field, offset) \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field)
#define CONSTANT(name, value) _Static_assert((name) == (value), #name)

_Static_assert(sizeof(void *) == 8, "these figures are for 64 bits");
_Static_assert(sizeof(lmsb_code) == 4, "size of lmsb_code");
CONSTANT(LMSB_ABI_VERSION, 2);

CONSTANT(LMSB_OK, 0);
CONSTANT(LMSB_CANCELLED, 1);
CONSTANT(LMSB_UNKNOWN, 2);
CONSTANT(LMSB_INVALID_ARGUMENT, 3);
CONSTANT(LMSB_DEADLINE_EXCEEDED, 4);
CONSTANT(LMSB_NOT_FOUND, 5);
CONSTANT(LMSB_ALREADY_EXISTS, 6);
CONSTANT(LMSB_PERMISSION_DENIED, 7);
CONSTANT(LMSB_RESOURCE_EXHAUSTED, 8);
CONSTANT(LMSB_FAILED_PRECONDITION, 9);
CONSTANT(LMSB_ABORTED, 10);
CONSTANT(LMSB_OUT_OF_RANGE, 11);
CONSTANT(LMSB_UNIMPLEMENTED, 12);
CONSTANT(LMSB_INTERNAL, 13);
CONSTANT(LMSB_UNAVAILABLE, 14);
CONSTANT(LMSB_DATA_LOSS, 15);
CONSTANT(LMSB_UNAUTHENTICATED, 16);
CONSTANT(LMSB_COLUMN_F64, 0);
CONSTANT(LMSB_COLUMN_I64, 1);
CONSTANT(LMSB_COLUMN_STRING, 2);
CONSTANT(LMSB_EVIDENCE_NOT_ANSWERED, 0);
CONSTANT(LMSB_EVIDENCE_MEASURED, 1);
CONSTANT(LMSB_EVIDENCE_INTERPOLATED, 2);
CONSTANT(LMSB_EVIDENCE_EXTRAPOLATED, 3);
CONSTANT(LMSB_EVIDENCE_ANALYTIC, 4);
CONSTANT(LMSB_OPERATOR_NOT_STATED, 0);
CONSTANT(LMSB_OPERATOR_EMBEDDING, 1);
CONSTANT(LMSB_OPERATOR_POSITION_EMBEDDING, 2);
CONSTANT(LMSB_OPERATOR_EMBEDDING_DROPOUT, 3);
CONSTANT(LMSB_OPERATOR_NORM, 4);
CONSTANT(LMSB_OPERATOR_QKV_PROJECTION, 5);
CONSTANT(LMSB_OPERATOR_QK_NORM, 6);
CONSTANT(LMSB_OPERATOR_ROTARY, 7);
CONSTANT(LMSB_OPERATOR_ATTENTION, 8);
CONSTANT(LMSB_OPERATOR_ATTENTION_SCORES, 9);
CONSTANT(LMSB_OPERATOR_SOFTMAX, 10);
CONSTANT(LMSB_OPERATOR_ATTENTION_DROPOUT, 11);
CONSTANT(LMSB_OPERATOR_ATTENTION_VALUES, 12);
CONSTANT(LMSB_OPERATOR_OUTPUT_PROJECTION, 13);
CONSTANT(LMSB_OPERATOR_RESIDUAL, 14);
CONSTANT(LMSB_OPERATOR_MLP_UP, 15);
CONSTANT(LMSB_OPERATOR_MLP_ACTIVATION, 16);
CONSTANT(LMSB_OPERATOR_MLP_DOWN, 17);
CONSTANT(LMSB_OPERATOR_OUTPUT_LAYER, 18);
CONSTANT(LMSB_OPERATOR_CROSS_ENTROPY, 19);
CONSTANT(LMSB_OPERATOR_GRADIENT_NORM, 20);
CONSTANT(LMSB_OPERATOR_OPTIMIZER, 21);
CONSTANT(LMSB_OPERATOR_LATENT_DOWN, 22);
CONSTANT(LMSB_OPERATOR_LATENT_NORM, 23);
CONSTANT(LMSB_OPERATOR_LATENT_UP, 24);
CONSTANT(LMSB_OPERATOR_RING_MERGE, 25);
CONSTANT(LMSB_OPERATOR_ROUTER, 26);
CONSTANT(LMSB_OPERATOR_ROUTING, 27);
CONSTANT(LMSB_OPERATOR_PERMUTE, 28);
CONSTANT(LMSB_OPERATOR_UNPERMUTE, 29);
CONSTANT(LMSB_OPERATOR_EXPERT_UP, 30);
CONSTANT(LMSB_OPERATOR_EXPERT_ACTIVATION, 31);
CONSTANT(LMSB_OPERATOR_EXPERT_DOWN, 32);
CONSTANT(LMSB_OPERATOR_SHARED_EXPERT_UP, 33);
CONSTANT(LMSB_OPERATOR_SHARED_EXPERT_ACTIVATION, 34);
CONSTANT(LMSB_OPERATOR_SHARED_EXPERT_DOWN, 35);
CONSTANT(LMSB_OPERATOR_MULTI_TOKEN_PROJECTION, 36);
CONSTANT(LMSB_OPERATOR_HOST_COPY, 37);
CONSTANT(LMSB_PASS_NOT_STATED, 0);
CONSTANT(LMSB_PASS_FORWARD, 1);
CONSTANT(LMSB_PASS_INPUT_GRADIENT, 2);
CONSTANT(LMSB_PASS_WEIGHT_GRADIENT, 3);
CONSTANT(LMSB_PASS_OPTIMIZER, 4);
CONSTANT(LMSB_COMPUTATION_MATRIX_MULTIPLICATION, 0);
CONSTANT(LMSB_COMPUTATION_ATTENTION, 1);
CONSTANT(LMSB_COMPUTATION_ELEMENTWISE, 2);
CONSTANT(LMSB_COMPUTATION_HOST, 3);
CONSTANT(LMSB_PRECISION_NOT_STATED, 0);
CONSTANT(LMSB_PRECISION_FP32, 1);
CONSTANT(LMSB_PRECISION_TF32, 2);
CONSTANT(LMSB_PRECISION_FP16, 3);
CONSTANT(LMSB_PRECISION_BF16, 4);
CONSTANT(LMSB_PRECISION_AMP, 5);
CONSTANT(LMSB_PRECISION_FP8, 6);
CONSTANT(LMSB_PRECISION_FP8_CURRENT_SCALING, 7);
CONSTANT(LMSB_PRECISION_FP8_ROWWISE, 8);
CONSTANT(LMSB_PRECISION_FP8_TENSORWISE, 9);
CONSTANT(LMSB_PRECISION_MXFP8, 10);
CONSTANT(LMSB_PRECISION_FP8_MX, 11);
CONSTANT(LMSB_PRECISION_NVFP4, 12);
CONSTANT(LMSB_COLLECTIVE_NOT_STATED, 0);
CONSTANT(LMSB_COLLECTIVE_ALL_REDUCE, 1);
CONSTANT(LMSB_COLLECTIVE_ALL_GATHER, 2);
CONSTANT(LMSB_COLLECTIVE_REDUCE_SCATTER, 3);
CONSTANT(LMSB_COLLECTIVE_ALL_TO_ALL, 4);
CONSTANT(LMSB_COLLECTIVE_BROADCAST, 5);
CONSTANT(LMSB_COLLECTIVE_SEND_RECEIVE, 6);
CONSTANT(LMSB_GROUP_NOT_STATED, 0);
CONSTANT(LMSB_GROUP_TENSOR, 1);
CONSTANT(LMSB_GROUP_DATA, 2);
CONSTANT(LMSB_GROUP_SHARD, 3);
CONSTANT(LMSB_GROUP_REPLICA, 4);
CONSTANT(LMSB_GROUP_PIPELINE, 5);
CONSTANT(LMSB_GROUP_EMBEDDING, 6);
CONSTANT(LMSB_GROUP_MODEL, 7);
CONSTANT(LMSB_GROUP_WORLD, 8);
CONSTANT(LMSB_GROUP_CONTEXT, 9);
CONSTANT(LMSB_GROUP_CONTEXT_INNER, 10);
CONSTANT(LMSB_GROUP_CONTEXT_OUTER, 11);
CONSTANT(LMSB_GROUP_EXPERT, 12);
CONSTANT(LMSB_GROUP_EXPERT_TENSOR, 13);
CONSTANT(LMSB_GROUP_EXPERT_REGION, 14);
CONSTANT(LMSB_GROUP_EXPERT_DATA, 15);
CONSTANT(LMSB_VERDICT_NOT_ANSWERED, 0);
CONSTANT(LMSB_VERDICT_FITS, 1);
CONSTANT(LMSB_VERDICT_DOES_NOT_FIT, 2);
CONSTANT(LMSB_VERDICT_ILLEGAL, 3);

SIZE(lmsb_u8_column, 16);
OFFSET(lmsb_u8_column, first, 0);
OFFSET(lmsb_u8_column, stride, 8);

SIZE(lmsb_i32_column, 16);
OFFSET(lmsb_i32_column, first, 0);
OFFSET(lmsb_i32_column, stride, 8);

SIZE(lmsb_i64_column, 16);
OFFSET(lmsb_i64_column, first, 0);
OFFSET(lmsb_i64_column, stride, 8);

SIZE(lmsb_f64_column, 16);
OFFSET(lmsb_f64_column, first, 0);
OFFSET(lmsb_f64_column, stride, 8);

SIZE(lmsb_operator_batch, 336);
OFFSET(lmsb_operator_batch, struct_size, 0);
OFFSET(lmsb_operator_batch, count, 8);
OFFSET(lmsb_operator_batch, kind, 16);
OFFSET(lmsb_operator_batch, pass, 32);
OFFSET(lmsb_operator_batch, computation, 48);
OFFSET(lmsb_operator_batch, precision, 64);
OFFSET(lmsb_operator_batch, batch, 80);
OFFSET(lmsb_operator_batch, m, 96);
OFFSET(lmsb_operator_batch, n, 112);
OFFSET(lmsb_operator_batch, k, 128);
OFFSET(lmsb_operator_batch, query_tokens, 144);
OFFSET(lmsb_operator_batch, key_tokens, 160);
OFFSET(lmsb_operator_batch, heads, 176);
OFFSET(lmsb_operator_batch, kv_heads, 192);
OFFSET(lmsb_operator_batch, head_dim, 208);
OFFSET(lmsb_operator_batch, causal, 224);
OFFSET(lmsb_operator_batch, window, 240);
OFFSET(lmsb_operator_batch, rows, 256);
OFFSET(lmsb_operator_batch, width, 272);
OFFSET(lmsb_operator_batch, flops, 288);
OFFSET(lmsb_operator_batch, bytes, 304);
OFFSET(lmsb_operator_batch, value_head_dim, 320);

SIZE(lmsb_collective_batch, 128);
OFFSET(lmsb_collective_batch, struct_size, 0);
OFFSET(lmsb_collective_batch, count, 8);
OFFSET(lmsb_collective_batch, kind, 16);
OFFSET(lmsb_collective_batch, group, 32);
OFFSET(lmsb_collective_batch, bytes, 48);
OFFSET(lmsb_collective_batch, members, 64);
OFFSET(lmsb_collective_batch, nodes, 80);
OFFSET(lmsb_collective_batch, members_per_node, 96);
OFFSET(lmsb_collective_batch, level, 112);

SIZE(lmsb_cost_model_functions, 56);
OFFSET(lmsb_cost_model_functions, struct_size, 0);
OFFSET(lmsb_cost_model_functions, user, 8);
OFFSET(lmsb_cost_model_functions, name, 16);
OFFSET(lmsb_cost_model_functions, thread_safe, 24);
OFFSET(lmsb_cost_model_functions, reserved, 28);
OFFSET(lmsb_cost_model_functions, operator_costs, 32);
OFFSET(lmsb_cost_model_functions, collective_costs, 40);
OFFSET(lmsb_cost_model_functions, destroy, 48);

SIZE(lmsb_simulator_functions, 48);
OFFSET(lmsb_simulator_functions, struct_size, 0);
OFFSET(lmsb_simulator_functions, user, 8);
OFFSET(lmsb_simulator_functions, name, 16);
OFFSET(lmsb_simulator_functions, thread_safe, 24);
OFFSET(lmsb_simulator_functions, reserved, 28);
OFFSET(lmsb_simulator_functions, predict, 32);
OFFSET(lmsb_simulator_functions, destroy, 40);

SIZE(lmsb_selection, 32);
OFFSET(lmsb_selection, struct_size, 0);
OFFSET(lmsb_selection, split, 8);
OFFSET(lmsb_selection, source, 16);
OFFSET(lmsb_selection, platform, 24);

SIZE(lmsb_ask_options, 40);
OFFSET(lmsb_ask_options, struct_size, 0);
OFFSET(lmsb_ask_options, selection, 8);
OFFSET(lmsb_ask_options, calibration_runs, 16);
OFFSET(lmsb_ask_options, threads, 20);
OFFSET(lmsb_ask_options, progress, 24);
OFFSET(lmsb_ask_options, progress_user, 32);

SIZE(lmsb_answer_columns, 56);
OFFSET(lmsb_answer_columns, struct_size, 0);
OFFSET(lmsb_answer_columns, count, 8);
OFFSET(lmsb_answer_columns, records, 16);
OFFSET(lmsb_answer_columns, iteration_time_s, 24);
OFFSET(lmsb_answer_columns, peak_memory_bytes, 32);
OFFSET(lmsb_answer_columns, verdicts, 40);
OFFSET(lmsb_answer_columns, refusals, 48);

SIZE(lmsb_score_options, 40);
OFFSET(lmsb_score_options, struct_size, 0);
OFFSET(lmsb_score_options, selection, 8);
OFFSET(lmsb_score_options, memory_margin, 16);
OFFSET(lmsb_score_options, false_fit_cost, 24);
OFFSET(lmsb_score_options, false_refusal_cost, 32);

SIZE(lmsb_host, 208);
OFFSET(lmsb_host, struct_size, 0);
OFFSET(lmsb_host, abi_version, 8);
OFFSET(lmsb_host, reserved, 12);
OFFSET(lmsb_host, last_error, 16);
OFFSET(lmsb_host, error_set, 24);
OFFSET(lmsb_host, workload_f64, 32);
OFFSET(lmsb_host, workload_i64, 40);
OFFSET(lmsb_host, workload_text, 48);
OFFSET(lmsb_host, workload_count, 56);
OFFSET(lmsb_host, workload_to_json, 64);
OFFSET(lmsb_host, system_f64, 72);
OFFSET(lmsb_host, system_i64, 80);
OFFSET(lmsb_host, system_text, 88);
OFFSET(lmsb_host, system_count, 96);
OFFSET(lmsb_host, system_to_json, 104);
OFFSET(lmsb_host, config_f64, 112);
OFFSET(lmsb_host, config_i64, 120);
OFFSET(lmsb_host, config_text, 128);
OFFSET(lmsb_host, config_count, 136);
OFFSET(lmsb_host, config_to_json, 144);
OFFSET(lmsb_host, prediction_set_f64, 152);
OFFSET(lmsb_host, prediction_set_i64, 160);
OFFSET(lmsb_host, prediction_set_text, 168);
OFFSET(lmsb_host, prediction_set_json, 176);
OFFSET(lmsb_host, text_data, 184);
OFFSET(lmsb_host, text_length, 192);
OFFSET(lmsb_host, text_free, 200);

SIZE(lmsb_plugin, 24);
OFFSET(lmsb_plugin, struct_size, 0);
OFFSET(lmsb_plugin, simulator, 8);
OFFSET(lmsb_plugin, cost_model, 16);

int main(void) { return lmsb_abi_version() == LMSB_ABI_VERSION ? 0 : 1; }
