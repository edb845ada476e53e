//! A simulator written in Rust, scored on the bundled measurements beside a
//! built-in one. What it needs is one function that answers or refuses.

use lmsimbench::{
    Answers, AskOptions, Bundle, Code, Config, Error, Measurements, Prediction, Result,
    ScoreOptions, Scorecard, Simulator, SimulatorHandle, System, Workload,
};

/// The model's operations at 40 % of the peak, and the bubble of the pipeline.
struct Simple;

impl Simulator for Simple {
    fn name(&self) -> &str {
        "simple in Rust"
    }

    fn predict(
        &self,
        workload: &Workload,
        system: &System,
        config: &Config,
        prediction: &mut Prediction,
    ) -> Result<()> {
        if workload.get::<i64>("model.experts")? > 0 {
            let reason = "mixture of experts is not modelled";
            return Err(Error::new(Code::Unimplemented, reason));
        }
        let peak: f64 = system.get("accelerator.bf16_flops")?;
        let micro_batch: f64 = config.get("micro_batch")?;
        let (pp, dp): (f64, f64) = (config.get("pp")?, config.get("dp")?);
        let devices = config.get::<f64>("tp")? * pp * dp;
        let batch: f64 = workload.get("global_batch")?;
        let tokens = batch * workload.get::<f64>("seq_len")?;
        let busy_s = flops_per_token(workload)? * tokens / (0.4 * peak * devices);
        let bubble_s = busy_s * (pp - 1.0) * micro_batch * dp / batch;
        // A missing figure is NaN, and so is what is computed from it.
        if (busy_s + bubble_s).is_nan() {
            let reason = "a figure of the model, the accelerator or the batch is not stated";
            return Err(Error::new(Code::FailedPrecondition, reason));
        }
        prediction.set("iteration_time_s", busy_s + bubble_s)?;
        prediction.set("time.bubble_s", bubble_s)?;
        prediction.set("time.other_s", busy_s)
    }
}

/// Three passes of the matrix multiplications and of causal attention.
fn flops_per_token(workload: &Workload) -> Result<f64> {
    let hidden: f64 = workload.get("model.hidden")?;
    let ffn: f64 = workload.get("model.ffn")?;
    let kv_share = workload.get::<f64>("model.kv_heads")? / workload.get::<f64>("model.heads")?;
    let mlp = if workload.get::<i64>("model.gated_mlp")? == 1 {
        3.0
    } else {
        2.0
    };
    let weights = hidden * hidden * (2.0 + 2.0 * kv_share) + mlp * hidden * ffn;
    let attention = hidden * workload.get::<f64>("seq_len")?;
    let layers = workload.get::<f64>("model.layers")? * (weights + attention);
    let logits = hidden * workload.get::<f64>("model.vocab")?;
    Ok(3.0 * 2.0 * (layers + logits))
}

fn main() -> Result<()> {
    let bundle = Bundle::embedded()?;
    let measurements = Measurements::open(&bundle)?;
    let mut answers = Vec::new();
    for simulator in [
        SimulatorHandle::new(Simple)?,
        SimulatorHandle::built_in(&bundle, "calculon")?,
    ] {
        let options = AskOptions {
            threads: 2,
            ..AskOptions::default()
        };
        answers.push(Answers::ask(&simulator, &measurements, options)?);
    }
    let answers: Vec<&Answers> = answers.iter().map(|of| &**of).collect();
    let card = Scorecard::new(&measurements, &answers, &ScoreOptions::default())?;
    print!("{}", card.to_text()?);
    Ok(())
}
