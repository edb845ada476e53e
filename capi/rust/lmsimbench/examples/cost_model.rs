//! A cost model written in Rust, run through the five stages: what bounds an
//! operator is the peak or the memory's bandwidth, and a built-in model knows
//! what communication costs.

use lmsimbench::{
    Bundle, Computation, Config, CostModel, CostModelHandle, Costs, Evidence, Graph, OperatorBatch,
    Result, SimulatorHandle, System, Timeline, Workload,
};

/// What an operator takes at 60 % of the peak or 80 % of the bandwidth.
struct Roofline;

impl CostModel for Roofline {
    fn name(&self) -> &str {
        "roofline in Rust"
    }

    fn operator_costs(
        &self,
        system: &System,
        operators: OperatorBatch<'_>,
        costs: &mut Costs<'_>,
    ) -> Result<()> {
        let peak = 0.6 * system.get::<f64>("accelerator.bf16_flops")?;
        let bandwidth = 0.8 * system.get::<f64>("accelerator.memory_bandwidth")?;
        for (index, operator) in operators.iter().enumerate() {
            let moving_s = operator.bytes / bandwidth;
            let computing_s = match operator.computation {
                Computation::Host => continue,
                Computation::Elementwise => 0.0,
                _ => operator.flops / peak,
            };
            costs.answer(index, moving_s.max(computing_s), Evidence::Analytic);
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    let bundle = Bundle::embedded()?;
    let mut workload = Workload::new()?;
    workload.set_model(&bundle, "LLaMA-7B")?;
    workload.set("seq_len", 4096)?;
    workload.set("global_batch", 64)?;
    workload.set("precision", "bf16")?;
    let system = System::find(&bundle, "a100-sxm4-80g")?;
    let mut config = Config::new()?;
    for (field, value) in [("tp", 4), ("pp", 2), ("dp", 2), ("micro_batch", 1)] {
        config.set(field, value)?;
    }
    config.check(&workload, Some(16))?;

    let mine = CostModelHandle::new(Roofline)?;
    let communication = CostModelHandle::built_in(&bundle, "collectives")?;
    let model = CostModelHandle::composite("mine", &[&mine, &communication])?;

    let graph = Graph::new(&workload, &system, &config)?;
    let costs = model.operators(&system, graph.operator_batch())?;
    let dearest = graph
        .operator_batch()
        .iter()
        .zip(costs)
        .max_by(|(_, a), (_, b)| a.seconds.total_cmp(&b.seconds));
    if let Some((operator, cost)) = dearest {
        println!(
            "dearest operator: {:?}, {:.3} ms",
            operator.kind,
            cost.seconds * 1e3
        );
    }
    let timeline = Timeline::new(&graph, &model)?;
    let slices = timeline.slices()?;
    println!("slices of the timeline: {}", slices.rows());
    println!("timeline: {:.1} ms", timeline.iteration_time_s() * 1e3);

    let simulator = SimulatorHandle::staged("staged with mine", &model)?;
    let prediction = simulator.predict(&workload, &system, &config)?;
    let time: f64 = prediction.get("iteration_time_s")?;
    let memory: f64 = prediction.get("peak_memory_bytes")?;
    let verdict: &str = prediction.get("verdict")?;
    println!(
        "{}: {:.1} ms, {:.1} GiB, {}",
        simulator.name(),
        time * 1e3,
        memory / f64::powi(2.0, 30),
        verdict
    );
    Ok(())
}
