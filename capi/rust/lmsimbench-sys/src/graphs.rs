//! Execution graphs and timelines.

use crate::{
    lmsb_code, lmsb_collective_batch, lmsb_config, lmsb_cost_model, lmsb_operator_batch,
    lmsb_system, lmsb_table, lmsb_text, lmsb_workload,
};
use std::os::raw::c_char;

opaque! {
    lmsb_graph,
    lmsb_timeline,
}

extern "C" {
    pub fn lmsb_graph_new(
        out: *mut *mut lmsb_graph,
        workload: *const lmsb_workload,
        system: *const lmsb_system,
        config: *const lmsb_config,
    ) -> lmsb_code;
    pub fn lmsb_graph_free(graph: *mut lmsb_graph);
    pub fn lmsb_graph_operator_batch(graph: *const lmsb_graph) -> *const lmsb_operator_batch;
    pub fn lmsb_graph_collective_batch(graph: *const lmsb_graph) -> *const lmsb_collective_batch;
    pub fn lmsb_graph_operators(graph: *const lmsb_graph, out: *mut *mut lmsb_table) -> lmsb_code;
    pub fn lmsb_graph_collectives(graph: *const lmsb_graph, out: *mut *mut lmsb_table)
        -> lmsb_code;
    pub fn lmsb_graph_rank_classes(
        graph: *const lmsb_graph,
        out: *mut *mut lmsb_table,
    ) -> lmsb_code;
    pub fn lmsb_graph_tasks(graph: *const lmsb_graph, out: *mut *mut lmsb_table) -> lmsb_code;
    pub fn lmsb_graph_to_json(
        graph: *const lmsb_graph,
        stage: *const c_char,
        stage_length: usize,
        out: *mut *mut lmsb_text,
    ) -> lmsb_code;
    pub fn lmsb_timeline_new(
        out: *mut *mut lmsb_timeline,
        graph: *const lmsb_graph,
        model: *const lmsb_cost_model,
    ) -> lmsb_code;
    pub fn lmsb_timeline_free(timeline: *mut lmsb_timeline);
    pub fn lmsb_timeline_iteration_time_s(timeline: *const lmsb_timeline) -> f64;
    pub fn lmsb_timeline_slices(
        timeline: *const lmsb_timeline,
        out: *mut *mut lmsb_table,
    ) -> lmsb_code;
    pub fn lmsb_timeline_memory(
        timeline: *const lmsb_timeline,
        out: *mut *mut lmsb_table,
    ) -> lmsb_code;
    pub fn lmsb_timeline_to_perfetto(
        timeline: *const lmsb_timeline,
        out: *mut *mut lmsb_text,
    ) -> lmsb_code;
}
