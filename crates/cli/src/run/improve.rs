//! Full optimization while packets flow already: what stands in for BMv2 forwards as soon as code is there, and gets better code later.
//!
//! A program whose C takes the compiler more than about a second is compiled quickly first (`driver::compile::Code`). Its plan, tables and
//! counters are those of the better code, which takes over between two bursts.

use super::live::{Built, Shared};
use native::Replay;
use std::sync::Arc;

/// Compiles the better code of a pipeline that was just set, and exchanges it if the same one still runs then.
pub fn improve<L: Replay + Send + 'static>(switch: &Shared<L>, built: &Built) {
    let Some(code) = built.better.clone() else { return };
    let (switch, quick, compiled) = (switch.clone(), built.pipeline.clone(), built.compiled.clone());
    // The switch may end meanwhile.
    std::thread::spawn(move || {
        let pipeline = match code.pipeline() {
            Ok(pipeline) => pipeline,
            Err(failure) => return eprintln!("warning: less optimized code goes on: {}", failure.message()),
        };
        let mut live = switch.lock();
        let Some(engine) = live.engine() else { return };
        // A controller may have set another pipeline.
        if !Arc::ptr_eq(engine.switch().pipeline(), &quick) {
            return;
        }
        match engine.exchange(&compiled, pipeline) {
            Ok(()) => eprintln!("note: {} runs fully optimized", compiled.name),
            Err(refusal) => eprintln!("warning: less optimized code goes on: {refusal}"),
        }
    });
}
