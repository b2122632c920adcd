//! The load of a measure from files of the user: a program, its entries and its packets.

use super::rig::Rig;
use crate::run::pushed::{self, Builder};
use driver::failure::Failure;
use driver::files;
use runtime::Trace;
use std::path::PathBuf;

/// See the module.
pub struct Load {
    pub program: PathBuf,
    /// STF, with the entries.
    pub packets: PathBuf,
}

impl Load {
    /// A switch with the program, its tables filled, and packets that come all the time.
    pub fn rig(&self, builder: Builder) -> Result<Rig, Failure> {
        let text = files::contents(&self.program)?;
        let built =
            pushed::build(&builder, &text, None).map_err(|refusal| Failure::refusal("the program", &refusal))?;
        let rig = Rig::new(&built, builder)?;
        let packets = driver::entries::packets(&self.packets)?;
        if packets.is_empty() {
            return Err(Failure::input(format!("{}: it has no packets", self.packets.display())));
        }
        {
            let mut live = rig.switch.lock();
            let engine = live.engine().expect("it began with a pipeline");
            driver::entries::configure(&built.program, &self.packets, engine)?;
        }
        rig.load(Trace::new(packets.iter().map(|frame| (frame.port as u16, frame.bytes.as_slice()))));
        Ok(rig)
    }
}
