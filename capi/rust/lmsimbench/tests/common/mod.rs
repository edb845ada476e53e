//! What several test programs ask about.

use lmsimbench::*;

/// A question that every built-in simulator answers.
pub struct Question {
    pub workload: Owned<Workload>,
    pub system: Owned<System>,
    pub config: Owned<Config>,
}

pub fn question(bundle: &Bundle) -> Question {
    let mut workload = Workload::new().unwrap();
    workload.set_model(bundle, "LLaMA-7B").unwrap();
    workload.set("seq_len", 4096).unwrap();
    workload.set("global_batch", 64).unwrap();
    workload.set("precision", "bf16").unwrap();
    let mut config = Config::new().unwrap();
    for (field, value) in [("tp", 4), ("pp", 2), ("dp", 2), ("micro_batch", 1)] {
        config.set(field, value).unwrap();
    }
    Question {
        workload,
        system: System::find(bundle, "a100-sxm4-80g").unwrap(),
        config,
    }
}
