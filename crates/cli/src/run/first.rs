//! What a switch begins with: the program and entries of the command line, or what an earlier run has saved.

use super::controllers::Controllers;
use super::live::{Built, Engine, Live};
use super::pushed::{self, Builder};
use super::state::{Earlier, Keeper, Kept, Origin};
use control::DataPlane as _;
use control::message::runtime::ForwardingPipelineConfig;
use driver::entries;
use driver::failure::Failure;
use hlir::Program;
use runtime::LayerPorts;
use std::sync::Arc;

/// See the module.
pub struct First {
    /// The program of the command line.
    pub given: Option<Built>,
    /// What runs, and what an earlier run has left for it.
    pub running: Option<Built>,
    pub keeper: Option<Arc<Keeper>>,
    kept: Option<Kept>,
}

impl First {
    /// The pipeline of an earlier run which a controller has set runs again, or else the program of the command line.
    pub fn new(builder: &Builder, Earlier { keeper, kept }: Earlier) -> Result<First, Failure> {
        let given = builder.given.clone();
        let is_set = |kept: &&Kept| kept.origin == Origin::Controller || given.is_none();
        let running = match kept.as_ref().filter(is_set) {
            None => given.clone(),
            Some(kept) => {
                let config = kept.pushed();
                let built = pushed::build(builder, &config.p4_device_config, config.p4info.as_ref());
                if given.is_some() {
                    eprintln!(
                        "note: {}: the pipeline that a controller has set runs, not that of the command line",
                        kept.flag
                    );
                }
                let of_pipeline = |refusal| Failure::refusal(format!("{}: its pipeline", kept.flag), &refusal);
                Some(built.map_err(of_pipeline)?)
            }
        };
        Ok(First { given, running, keeper: keeper.map(Arc::new), kept })
    }

    /// Fills the pipeline that runs first: with the entries of an earlier run, or else with those of the command line. Their number. `ports`
    /// bounds generated port numbers.
    pub fn fill(
        &self,
        (origins, ports): (&[entries::Origin], u32),
        controllers: &Controllers,
        live: &mut Live<LayerPorts>,
    ) -> Result<u64, Failure> {
        let Some(built) = &self.running else { return Ok(0) };
        let engine = live.begin(built)?;
        let program = engine.program();
        let Some(kept) = &self.kept else {
            let count = entries::load(engine, origins, ports)?;
            self.save(controllers, engine)?;
            return Ok(count);
        };
        if !origins.is_empty() {
            eprintln!("note: {}: the entries of the earlier run are loaded, not those of --entries", kept.flag);
        }
        let restored = kept.restored(&program)?;
        restored.warnings.iter().for_each(|warning| eprintln!("warning: {}: {warning}", kept.flag));
        let count = program.tables.iter().map(|(id, _)| restored.store.entry_count(id) as u64).sum();
        engine.restore(restored.store).map_err(|refusal| Failure::refusal(kept.flag, &refusal))?;
        let refused: u64 = restored.registers.iter().map(|elements| elements.write(engine)).sum();
        if refused > 0 {
            eprintln!("warning: {}: {refused} saved elements have no room in the registers of this program", kept.flag);
        }
        let is_last = kept.has_registers() && self.keeper.as_ref().is_some_and(|keeper| !keeper.has_registers());
        if is_last {
            eprintln!("note: {}: saved registers are loaded, and not saved again without --state-registers", kept.flag);
        }
        match restored.differs || is_last {
            true => self.save(controllers, engine)?,
            false => engine.store_mut().keep_journal(),
        }
        Ok(count)
    }

    /// Saves the whole state, before the switch begins.
    fn save(&self, controllers: &Controllers, engine: &mut Engine<LayerPorts>) -> Result<(), Failure> {
        let Some(keeper) = &self.keeper else { return Ok(()) };
        let (config, origin) = self.config(controllers, &engine.program());
        let saved = keeper.save_all(engine, &config, origin).wait();
        saved.map_err(|why| Failure::environment(format!("--state: {why}")))
    }

    /// The config of the pipeline that runs first, and where it came from.
    pub fn config(&self, controllers: &Controllers, program: &Arc<Program>) -> (ForwardingPipelineConfig, Origin) {
        match self.kept.as_ref().filter(|kept| kept.origin == Origin::Controller) {
            Some(kept) => (kept.config.clone(), kept.origin),
            None => (controllers.config_of(program), Origin::CommandLine),
        }
    }
}
