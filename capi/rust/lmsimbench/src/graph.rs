//! Execution graphs and timelines.

use crate::batch::{CollectiveBatch, OperatorBatch};
use crate::cost_model::CostModelHandle;
use crate::error::{made_text, Result};
use crate::owned::Owned;
use crate::values::{Config, System, Workload};
use crate::view::{begin, Table};
use lmsimbench_sys as sys;

object! {
    /// What one iteration of a configuration runs.
    Graph, lmsb_graph, lmsb_graph_free
}
debug_by_name!(Graph);

// SAFETY: a graph is only ever read, by any thread.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

impl Graph {
    /// Compiles, places and lowers a configuration. Choices that it leaves open
    /// are made as the simulator "staged" makes them.
    pub fn new(workload: &Workload, system: &System, config: &Config) -> Result<Owned<Graph>> {
        // SAFETY: makes a graph; the arguments are read during the call only.
        unsafe {
            Owned::make(|out| sys::lmsb_graph_new(out, workload.raw(), system.raw(), config.raw()))
        }
    }

    /// Its distinct operators, to be given to a cost model.
    pub fn operator_batch(&self) -> OperatorBatch<'_> {
        // SAFETY: the batch lives as long as the graph.
        unsafe { OperatorBatch::borrow(sys::lmsb_graph_operator_batch(self.raw())) }
    }

    /// Its distinct collectives, each with every span that runs it.
    pub fn collective_batch(&self) -> CollectiveBatch<'_> {
        // SAFETY: the batch lives as long as the graph.
        unsafe { CollectiveBatch::borrow(sys::lmsb_graph_collective_batch(self.raw())) }
    }

    /// Its distinct operators: kind, pass, computation, precision, and the figures
    /// of [`Operator`](crate::Operator).
    pub fn operators(&self) -> Result<Table> {
        // SAFETY: makes a table.
        unsafe { Table::make(|out| sys::lmsb_graph_operators(self.raw(), out)) }
    }

    /// Its distinct collectives: kind, group, bytes, members, nodes,
    /// members_per_node, level.
    pub fn collectives(&self) -> Result<Table> {
        // SAFETY: makes a table.
        unsafe { Table::make(|out| sys::lmsb_graph_collectives(self.raw(), out)) }
    }

    /// Ranks that do the same: pipeline_rank, pipeline_kind, ranks.
    pub fn rank_classes(&self) -> Result<Table> {
        // SAFETY: makes a table.
        unsafe { Table::make(|out| sys::lmsb_graph_rank_classes(self.raw(), out)) }
    }

    /// Tasks in the order in which each stream runs them: rank_class, stream,
    /// operator or collective (row of that table, else -1), micro_batch, chunk,
    /// direction, recomputed.
    pub fn tasks(&self) -> Result<Table> {
        // SAFETY: makes a table.
        unsafe { Table::make(|out| sys::lmsb_graph_tasks(self.raw(), out)) }
    }

    /// A stage's output as JSON: "program", "placement" or "graph".
    pub fn to_json(&self, stage: &str) -> Result<String> {
        // SAFETY: makes a text.
        unsafe {
            made_text(|out| sys::lmsb_graph_to_json(self.raw(), begin(stage), stage.len(), out))
        }
    }
}

object! {
    /// Everything that happens in one iteration.
    Timeline, lmsb_timeline, lmsb_timeline_free
}
debug_by_name!(Timeline);

// SAFETY: a timeline is only ever read, by any thread.
unsafe impl Send for Timeline {}
// SAFETY: as above.
unsafe impl Sync for Timeline {}

impl Timeline {
    /// Costs a graph with a model and simulates every operator and collective.
    pub fn new<T>(graph: &Graph, model: &CostModelHandle<T>) -> Result<Owned<Timeline>> {
        // SAFETY: makes a timeline; the model is asked during the call only.
        unsafe { Owned::make(|out| sys::lmsb_timeline_new(out, graph.raw(), model.raw())) }
    }

    /// Seconds that the iteration takes.
    pub fn iteration_time_s(&self) -> f64 {
        // SAFETY: the timeline lives.
        unsafe { sys::lmsb_timeline_iteration_time_s(self.raw()) }
    }

    /// What runs when: rank_class, stream, start_s, end_s, name, micro_batch,
    /// chunk, direction, recomputed.
    pub fn slices(&self) -> Result<Table> {
        // SAFETY: makes a table.
        unsafe { Table::make(|out| sys::lmsb_timeline_slices(self.raw(), out)) }
    }

    /// Memory in use: rank_class, time_s, bytes (from this moment to the next
    /// row's).
    pub fn memory(&self) -> Result<Table> {
        // SAFETY: makes a table.
        unsafe { Table::make(|out| sys::lmsb_timeline_memory(self.raw(), out)) }
    }

    /// The JSON that Perfetto opens.
    pub fn to_perfetto(&self) -> Result<String> {
        // SAFETY: makes a text.
        unsafe { made_text(|out| sys::lmsb_timeline_to_perfetto(self.raw(), out)) }
    }
}
