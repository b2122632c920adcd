//! What outlives the process: the pipeline and all that controllers have written, in the directory of `--state`. Or, to begin with
//! and not to be saved in, in the file of `--restore`, which `serialize_state` of Thrift gave.
//!
//! Rows of the store are numbered by its program, whose text is saved with them. A switch that starts with another program takes over what has
//! the same names there.

use super::live::Engine;
use super::saved_registers::{self, Elements, SavedRegisters};
use bm_runtime::state_file::{self, Saved};
use control::message::runtime::ForwardingPipelineConfig;
use control::{DataPlane as _, Refusal, RefusalKind, Store};
use driver::failure::Failure;
use hlir::Program;
use hlir::text::{parse_program, print_program};
use native::Replay;
use persist::{Change, File, Rows, Ticket};
use prost::Message as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Of the rows, and of what the rows mean.
const FORMAT: &str = "1";

/// Rows that are no objects of the store; the store's begin with other bytes. Each is there twice, at both ends of the file: without the
/// program, no row has a meaning.
const ENDS: [u8; 2] = [0, 255];
const OF_FORMAT: u8 = b'f';
const OF_PROGRAM: u8 = b'p';
const OF_CONFIG: u8 = b'c';
const OF_ORIGIN: u8 = b'o';

/// Where a pipeline came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    CommandLine,
    Controller,
}

/// Where a running switch saves its state.
pub struct Keeper {
    file: File,
    /// With `--state-registers`.
    registers: Option<Mutex<SavedRegisters>>,
}

/// What an earlier run has left.
pub struct Kept {
    /// The flag that names it.
    pub flag: &'static str,
    path: PathBuf,
    /// The program's text in HLIR.
    text: String,
    pub origin: Origin,
    pub config: ForwardingPipelineConfig,
    /// Of the store.
    rows: Rows,
    registers: Rows,
}

/// The store of an earlier run for the program of this one.
pub struct Restored {
    pub store: Store,
    pub registers: Vec<Elements>,
    /// Whether the file has other rows than the store now.
    pub differs: bool,
    pub warnings: Vec<String>,
}

/// What a switch begins with, and where it saves its state.
#[derive(Default)]
pub struct Earlier {
    pub keeper: Option<Keeper>,
    pub kept: Option<Kept>,
}

/// What is saved, and where.
pub struct Flags<'f> {
    pub state: Option<&'f Path>,
    pub registers: bool,
}

impl Earlier {
    /// What an earlier run has left, by --state or --restore.
    pub fn of(flags: &Flags<'_>, restore: Option<&Path>) -> Result<Earlier, Failure> {
        let Some(folder) = flags.state else {
            let kept = restore.map(Kept::of_file).transpose()?;
            return Ok(Earlier { keeper: None, kept });
        };
        let (keeper, kept) = open(folder)?;
        let keeper = if flags.registers { keeper.with_registers(kept.as_ref()) } else { keeper };
        Ok(Earlier { keeper: Some(keeper), kept })
    }
}

/// Opens a directory; it is empty at the first start.
pub fn open(folder: &Path) -> Result<(Keeper, Option<Kept>), Failure> {
    let failed = |error: String| Failure::environment(format!("--state: {error}"));
    let opened = persist::open(folder).map_err(failed)?;
    opened.warnings.iter().for_each(|warning| eprintln!("warning: --state: {warning}"));
    let kept = Kept::of(folder, opened.rows).map_err(|why| failed(format!("{}: {why}", folder.display())))?;
    Ok((Keeper { file: opened.file, registers: None }, kept))
}

impl Kept {
    fn of(folder: &Path, rows: Rows) -> Result<Option<Kept>, String> {
        if rows.is_empty() {
            return Ok(None);
        }
        let found = |kind: u8| {
            let mut ends =
                ENDS.iter().filter_map(|end| rows.binary_search_by(|(key, _)| key[..].cmp(&[*end, kind])).ok());
            ends.next().map(|at| rows[at].1.clone())
        };
        let lost = "what it holds cannot be read: the program of its rows is lost; start with another directory";
        let text = |kind: u8| found(kind).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or(lost);
        let format = text(OF_FORMAT)?;
        if format != FORMAT {
            let sentence = "it is of another version of bacus";
            return Err(format!("{sentence} (format {format}; this one reads {FORMAT}): start with another directory"));
        }
        let config = found(OF_CONFIG).and_then(|bytes| ForwardingPipelineConfig::decode(&bytes[..]).ok());
        let origin = match found(OF_ORIGIN).ok_or(lost)?[..] {
            [0] => Origin::CommandLine,
            _ => Origin::Controller,
        };
        let (text, config) = (text(OF_PROGRAM)?, config.ok_or(lost)?);
        let of_store = |(key, _): &(Vec<u8>, Vec<u8>)| key.first().is_some_and(|first| !ENDS.contains(first));
        let is_of_registers = |(key, _): &(Vec<u8>, Vec<u8>)| key.first() == Some(&saved_registers::TAG);
        let (registers, rows) = rows.into_iter().filter(of_store).partition(is_of_registers);
        Ok(Some(Kept { flag: "--state", path: folder.to_path_buf(), text, origin, config, rows, registers }))
    }

    /// Reads a file that Thrift's `serialize_state` gave.
    pub fn of_file(path: &Path) -> Result<Kept, Failure> {
        let failed = |why: &str| Failure::input(format!("--restore: {}: {why}", path.display()));
        let text = driver::files::contents(path)?;
        let text = std::str::from_utf8(&text).map_err(|_| failed("it is no text"))?;
        let Saved { program, rows } = state_file::read(text).map_err(|why| failed(&why))?;
        let (origin, config) = (Origin::CommandLine, ForwardingPipelineConfig::default());
        let registers = Rows::new();
        Ok(Kept { flag: "--restore", path: path.to_path_buf(), text: program, origin, config, rows, registers })
    }

    /// The config that is compiled again: what a controller pushed, or the program's text if a switch is started without it.
    pub fn pushed(&self) -> ForwardingPipelineConfig {
        let mut config = self.config.clone();
        if self.origin == Origin::CommandLine {
            config.p4_device_config = self.text.clone().into_bytes();
        }
        config
    }

    /// What was written, for the program that runs now.
    pub fn restored(&self, program: &Arc<Program>) -> Result<Restored, Failure> {
        let failed = |why: String| Failure::input(format!("{}: {}: {why}", self.flag, self.path.display()));
        let rows = self.rows.iter().map(|(key, value)| (key.as_slice(), value.as_slice()));
        let of_rows = |program| {
            let (store, refused) = Store::of_rows(program, rows);
            (store, refused.iter().map(|why| format!("{}: {why}", self.path.display())).collect::<Vec<_>>())
        };
        if print_program(program) == self.text {
            let (store, mut warnings) = of_rows(program.clone());
            let (registers, others) = saved_registers::restored(&self.registers, program, program);
            warnings.extend(others);
            return Ok(Restored { store, registers, differs: !warnings.is_empty(), warnings });
        }
        let old = parse_program(&self.text);
        let old = old.map_err(|_| failed("this version of bacus cannot read its program".to_string()))?;
        let old = Arc::new(old);
        let (store, mut warnings) = of_rows(old.clone());
        let (registers, others) = saved_registers::restored(&self.registers, &old, program);
        warnings.extend(others);
        let carried = store.carried_to(program.clone()).map_err(|refusal| {
            failed(format!(
                "it is of another program: {refusal}; start with the program that it is of, or with another state"
            ))
        })?;
        Ok(Restored { store: carried, registers, differs: true, warnings })
    }

    pub fn has_registers(&self) -> bool {
        !self.registers.is_empty()
    }
}

/// All rows of a switch but those of registers.
fn whole(store: &Store, config: &ForwardingPipelineConfig, origin: Origin) -> Vec<Change> {
    let text = print_program(store.program());
    let origin = vec![u8::from(origin == Origin::Controller)];
    let own = [
        (OF_FORMAT, FORMAT.as_bytes().to_vec()),
        (OF_PROGRAM, text.into_bytes()),
        (OF_CONFIG, config.encode_to_vec()),
        (OF_ORIGIN, origin),
    ];
    let own = own.iter().flat_map(|(kind, value)| ENDS.map(|end| (vec![end, *kind], value.clone())));
    let mut rows: Rows = store.rows().chain(own).collect();
    // In the order in which the file has them, they are written several times as fast.
    rows.sort_unstable();
    let puts = rows.into_iter().map(|(key, value)| Change::Put(key, value));
    std::iter::once(Change::Clear).chain(puts).collect()
}

impl Keeper {
    /// Saves registers as well, in a file that has what is kept.
    #[must_use]
    pub fn with_registers(self, kept: Option<&Kept>) -> Keeper {
        let saved = kept.map(|kept| SavedRegisters::of(&kept.registers)).unwrap_or_default();
        Keeper { registers: Some(Mutex::new(saved)), ..self }
    }

    pub fn has_registers(&self) -> bool {
        self.registers.is_some()
    }

    /// Replaces all rows by those of this pipeline and what it holds.
    pub fn save_all<L: Replay>(
        &self,
        engine: &mut Engine<L>,
        config: &ForwardingPipelineConfig,
        origin: Origin,
    ) -> Ticket {
        engine.store_mut().keep_journal();
        engine.store_mut().take_changes();
        let mut changes = whole(engine.store(), config, origin);
        if let Some(saved) = &self.registers {
            let mut saved = saved.lock().unwrap_or_else(PoisonError::into_inner);
            saved.forget();
            changes.extend(saved.changes(engine));
        }
        self.file.write(changes)
    }

    /// Saves the registers' elements that have changed since the last time; none if none has, if registers are not saved, or if nothing can be.
    pub fn save_registers<L: Replay>(&self, engine: &mut Engine<L>) -> Option<Ticket> {
        let saved = self.registers.as_ref().filter(|_| self.file.error().is_none())?;
        let changes = saved.lock().unwrap_or_else(PoisonError::into_inner).changes(engine);
        (!changes.is_empty()).then(|| self.file.write(changes))
    }

    /// Saves what has changed; none if nothing has.
    pub fn save(&self, store: &mut Store) -> Option<Ticket> {
        let changes = store.take_changes();
        let change = |(key, value): control::store::Change| match value {
            Some(value) => Change::Put(key, value),
            None => Change::Remove(key),
        };
        (!changes.is_empty()).then(|| self.file.write(changes.into_iter().map(change).collect()))
    }

    /// Why nothing may be written at present: it could not be saved.
    pub fn refusal(&self) -> Option<Refusal> {
        let why = self.file.error()?;
        Some(Refusal::new(RefusalKind::Full, format!("nothing is written, since it cannot be saved: {why}")))
    }
}

/// What a caller is answered whose write could not be saved.
pub fn not_saved(why: String) -> Refusal {
    Refusal::new(RefusalKind::Full, format!("this is in effect, but it could not be saved, and is tried again: {why}"))
}
