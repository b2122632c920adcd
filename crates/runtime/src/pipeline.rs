//! A pipeline's shared object, loaded and checked, and its description.
//!
//! The description is copied out of the object once, so that everyone but this crate reads ordinary values.

use crate::abi;
use crate::compile::Descriptor;
use libloading::Library;
use std::ffi::{CStr, c_char};
use std::fmt;
use std::path::{Path, PathBuf};

/// A loaded pipeline. The object stays in memory as long as this does.
pub struct Pipeline {
    raw: *const abi::Pipeline,
    description: Description,
    _library: Library,
}

// SAFETY: a pipeline's descriptor is constant, and its functions keep their state in the worker they are given.
unsafe impl Send for Pipeline {}
// SAFETY: as above.
unsafe impl Sync for Pipeline {}

unsafe extern "C" {
    /// See `runtime/port/touch.h`.
    fn touch_object(address: *const std::ffi::c_void);
    fn touch_code(address: *const std::ffi::c_void, bytes: *mut usize) -> *const std::ffi::c_void;
}

/// The contents of `struct pipeline`.
#[derive(Clone, Debug)]
pub struct Description {
    pub program: String,
    pub descriptor: Descriptor,
    /// Packets that one call of `process` takes.
    pub burst: u32,
    /// Tables, then value sets.
    pub tables: Vec<Table>,
    pub counters: Vec<Counter>,
    pub meters: Vec<Meter>,
    pub registers: Vec<Register>,
    /// Reasons to drop a packet.
    pub drops: Vec<String>,
    pub nodes: Vec<String>,
    pub edges: Vec<String>,
    pub saved_bytes: u32,
    pub worker_bytes: u64,
    pub copy_bytes: u64,
    /// Objects of custom externs.
    pub externs: Vec<Extern>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchKind {
    Exact,
    Lpm,
    Ternary,
    Range,
    Optional,
}

/// `enum structure` of abi.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    Exact,
    Dir24_8,
    LpmTrie,
    List,
    Exact48,
    Dir24_8U16,
    Dir24_8U8,
    Direct,
    Compare,
    Scan,
    BitVector,
    Btree,
    Perfect,
    TupleSpace,
    Exact60,
}

impl Structure {
    /// Whether the entry with the largest priority wins, whatever its masks.
    pub fn is_prioritised(self) -> bool {
        match self {
            Structure::List | Structure::Scan | Structure::BitVector | Structure::TupleSpace => true,
            Structure::Exact
            | Structure::Exact48
            | Structure::Exact60
            | Structure::Dir24_8
            | Structure::Dir24_8U16
            | Structure::Dir24_8U8
            | Structure::LpmTrie
            | Structure::Perfect
            | Structure::Btree
            | Structure::Compare
            | Structure::Direct => false,
        }
    }

    fn read(number: u32) -> Option<Structure> {
        Some(match number {
            0 => Structure::Exact,
            1 => Structure::Dir24_8,
            2 => Structure::LpmTrie,
            3 => Structure::List,
            4 => Structure::Exact48,
            5 => Structure::Dir24_8U16,
            6 => Structure::Dir24_8U8,
            7 => Structure::Direct,
            8 => Structure::Compare,
            9 => Structure::Scan,
            10 => Structure::BitVector,
            11 => Structure::Btree,
            12 => Structure::Perfect,
            13 => Structure::TupleSpace,
            14 => Structure::Exact60,
            _ => return None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    pub structure: Structure,
    pub key_bits: u32,
    pub key_limbs: u32,
    /// In the order of the table's keys.
    pub fields: Vec<KeyField>,
    pub actions: Vec<Action>,
    pub record_bytes: u32,
    pub records_own: bool,
    pub size: u64,
    pub idle_timeout: Option<IdleTimeout>,
    pub source: u32,
    /// Where a record has its group's slot; 0 in tables without a selector.
    pub group_offset: u32,
    /// The number of the table whose array the entries are in, if it is not their own.
    pub primary: Option<usize>,
    /// Where two tables share an array: bits of the number of a record. Else 0.
    pub part_bits: u32,
}

/// What becomes of an entry whose time has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleTimeout {
    Notify,
    Delete,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extern {
    pub name: String,
    pub of_type: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyField {
    pub name: String,
    pub width: u32,
    pub shift: u32,
    pub kind: MatchKind,
    /// The mask that all entries have, in limbs, low limb first, if the structure holds the field as an exact one whatever its kind.
    pub mask: Option<Vec<u64>>,
    /// What all entries match, if the structure leaves the field out.
    pub left_out: Option<LeftOut>,
}

/// What all entries match of a key that lookups do not distinguish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    Any,
    /// In limbs, low limb first.
    Value(Vec<u64>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub name: String,
    pub parameters: Vec<Parameter>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub width: u32,
    pub offset: u32,
    pub form: ParameterForm,
}

/// How a parameter lies in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterForm {
    /// 1, 2, 4 or 8 bytes, or whole limbs, the lowest byte first.
    Number,
    /// `width / 8` bytes as a packet has them, the highest first.
    Bytes,
}

impl Parameter {
    /// Bytes of the record that are the parameter's.
    pub fn size(&self) -> usize {
        match (self.form, self.width) {
            (ParameterForm::Bytes, width) => width as usize / 8,
            (ParameterForm::Number, 0..=8) => 1,
            (ParameterForm::Number, 9..=16) => 2,
            (ParameterForm::Number, 17..=32) => 4,
            (ParameterForm::Number, width) => width.div_ceil(64) as usize * 8,
        }
    }

    /// Puts a value, lowest byte first, into a record. Bytes beyond the parameter's are left out, those that are missing are zeros.
    pub fn put(&self, record: &mut [u8], value: &[u8]) {
        let place = &mut record[self.offset as usize..][..self.size()];
        place.fill(0);
        place.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
        if self.form == ParameterForm::Bytes {
            place.reverse();
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    pub name: String,
    /// Elements; 0 for one to each record of `table`.
    pub size: u64,
    pub table: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meter {
    pub name: String,
    pub size: u64,
    pub table: u32,
    pub bytes: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    pub name: String,
    pub size: u64,
    pub width: u32,
    pub element_bytes: u32,
    /// The first value of each element, in limbs; empty for zero.
    pub initial: Vec<u64>,
}

/// Why an object is not loaded.
#[derive(Debug)]
pub struct LoadError {
    path: PathBuf,
    reason: String,
}

impl LoadError {
    pub(crate) fn new(path: &Path, reason: String) -> LoadError {
        LoadError { path: path.to_path_buf(), reason }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot load {}: {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for LoadError {}

/// What the system's loader has against an object; the error itself only names the call that failed.
pub(crate) fn loader_message(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Loads an object with all symbols that it needs. Bound one by one, the first call of a missing function would end
/// the process, without a word on where the function could come from.
pub(crate) fn load_whole(path: &Path) -> Result<Library, LoadError> {
    // SAFETY: the object's initialisers are run; the caller vouches for the file.
    let library = unsafe { libloading::os::unix::Library::open(Some(path), libloading::os::unix::RTLD_NOW) };
    library.map(Library::from).map_err(|error| {
        let message = loader_message(&error);
        let reason = match message.split_once("undefined symbol: ") {
            Some((_, symbol)) => format!(
                "`{symbol}` is in none of its files\nhint: name the library that has it, too: --extern /usr/lib/libNAME.so"
            ),
            None => message,
        };
        LoadError { path: path.to_path_buf(), reason }
    })
}

impl Pipeline {
    /// Loads what this program has compiled. The object's code runs in this process: load none from others.
    pub fn load(path: &Path) -> Result<Pipeline, LoadError> {
        let refused = |reason: String| LoadError { path: path.to_path_buf(), reason };
        let library = load_whole(path)?;
        // SAFETY: the name is that of a `struct pipeline`; version and layout are checked before anything else is read.
        let raw = unsafe { library.get::<*const abi::Pipeline>(b"bacus_pipeline") };
        let raw = raw.map_err(|_| refused("it exports no `bacus_pipeline`".into()))?;
        let raw: *const abi::Pipeline = *raw;
        // SAFETY: the two fields are first in every version.
        let (version, layout) = unsafe { ((*raw).version, (*raw).layout) };
        // SAFETY: a function without arguments or state.
        if version != abi::ABI_VERSION || layout != unsafe { abi::abi_layout() } {
            return Err(refused("it was compiled by another version of bacus; compile it again".into()));
        }
        // SAFETY: the descriptor is of our version, and constant.
        let description = unsafe { Description::read(&*raw) }.map_err(refused)?;
        Ok(Pipeline { raw, description, _library: library })
    }

    /// Maps the pages of its code and constants, so that no worker waits for one in the burst in which it first runs them.
    pub(crate) fn touch(&self) {
        // SAFETY: the descriptor lies in the object, which stays loaded meanwhile.
        unsafe { touch_object(self.raw.cast()) };
    }

    /// The machine code of the object.
    pub(crate) fn code(&self) -> (*const u8, usize) {
        let mut bytes = 0;
        // SAFETY: as above.
        let code = unsafe { touch_code(self.raw.cast(), &raw mut bytes) };
        (code.cast(), bytes)
    }

    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Something else that the object exports, by its name with a zero byte at the end.
    pub(crate) fn symbol<T>(&self, name: &[u8]) -> Option<*const T> {
        // SAFETY: the address of a symbol, of whatever type; it is the caller who uses it as a `T`.
        unsafe { self._library.get::<*const T>(name) }.ok().map(|symbol| *symbol)
    }

    pub(crate) fn raw(&self) -> &abi::Pipeline {
        // SAFETY: it points into the library that this value holds.
        unsafe { &*self.raw }
    }
}

impl Description {
    /// # Safety
    /// `raw` is what a pipeline of this version exports.
    unsafe fn read(raw: &abi::Pipeline) -> Result<Description, String> {
        // SAFETY: each array has as many elements as in the descriptor.
        unsafe {
            Ok(Description {
                program: text(raw.program),
                descriptor: if raw.descriptor == 0 { Descriptor::Mbuf } else { Descriptor::Own },
                burst: raw.burst,
                tables: array(raw.tables, raw.table_count)
                    .iter()
                    .map(|table| Table::read(table))
                    .collect::<Result<_, _>>()?,
                counters: array(raw.counters, raw.counter_count)
                    .iter()
                    .map(|counter| Counter { name: text(counter.name), size: counter.size, table: counter.table })
                    .collect(),
                meters: array(raw.meters, raw.meter_count)
                    .iter()
                    .map(|meter| Meter {
                        name: text(meter.name),
                        size: meter.size,
                        table: meter.table,
                        bytes: meter.bytes != 0,
                    })
                    .collect(),
                registers: array(raw.registers, raw.register_count).iter().map(Register::read).collect(),
                drops: texts(raw.drops, raw.drop_count),
                nodes: texts(raw.nodes, raw.node_count),
                edges: texts(raw.edges, raw.edge_count),
                saved_bytes: raw.saved_bytes,
                worker_bytes: raw.worker_bytes,
                copy_bytes: raw.copy_bytes,
                externs: array(raw.externs, raw.extern_count)
                    .iter()
                    .map(|object| Extern { name: text(object.name), of_type: text(object.of_type) })
                    .collect(),
            })
        }
    }
}

impl Table {
    /// # Safety
    /// As for [`Description::read`].
    unsafe fn read(raw: &abi::TableDescriptor) -> Result<Table, String> {
        let name = text(raw.name);
        let structure = Structure::read(raw.structure)
            .ok_or_else(|| format!("table {name} has the unknown structure {}", raw.structure))?;
        // SAFETY: each array has as many elements as in the descriptor.
        let (fields, actions) = unsafe { (array(raw.fields, raw.field_count), array(raw.actions, raw.action_count)) };
        let unknown = || format!("table {name} has an unknown match kind");
        // SAFETY: as above.
        let fields = fields.iter().map(|field| unsafe { KeyField::read(field) }.ok_or_else(unknown));
        let mut fields = fields.collect::<Result<Vec<KeyField>, _>>()?;
        // SAFETY: as above.
        for key in unsafe { array(raw.left_out, raw.left_out_count) } {
            // SAFETY: as above.
            let field = unsafe { KeyField::read_left_out(key) }.ok_or_else(unknown)?;
            fields.insert((key.number as usize).min(fields.len()), field);
        }
        Ok(Table {
            structure,
            key_bits: raw.key_bits,
            key_limbs: raw.key_limbs,
            fields,
            // SAFETY: as above.
            actions: actions.iter().map(|action| unsafe { Action::read(action) }).collect(),
            record_bytes: raw.record_bytes,
            records_own: raw.records_own != 0,
            size: raw.size,
            idle_timeout: match raw.idle_timeout {
                0 => None,
                1 => Some(IdleTimeout::Notify),
                2 => Some(IdleTimeout::Delete),
                other => return Err(format!("table {name} has the unknown idle timeout {other}")),
            },
            source: raw.source,
            group_offset: raw.group_offset,
            primary: raw.primary.checked_sub(1).map(|number| number as usize),
            part_bits: raw.part_bits,
            name,
        })
    }
}

impl MatchKind {
    fn read(raw: u32) -> Option<MatchKind> {
        match raw {
            0 => Some(MatchKind::Exact),
            1 => Some(MatchKind::Lpm),
            2 => Some(MatchKind::Ternary),
            3 => Some(MatchKind::Range),
            4 => Some(MatchKind::Optional),
            _ => None,
        }
    }
}

impl KeyField {
    /// # Safety
    /// As for [`Description::read`].
    unsafe fn read(raw: &abi::KeyField) -> Option<KeyField> {
        let kind = MatchKind::read(raw.kind)?;
        // SAFETY: the mask has as many limbs as the key.
        let mask = (!raw.mask.is_null()).then(|| unsafe { array(raw.mask, raw.width.div_ceil(64)) }.to_vec());
        Some(KeyField { name: text(raw.name), width: raw.width, shift: raw.shift, kind, mask, left_out: None })
    }

    /// # Safety
    /// As for [`Description::read`].
    unsafe fn read_left_out(raw: &abi::LeftOutKey) -> Option<KeyField> {
        let kind = MatchKind::read(raw.kind)?;
        let left_out = match raw.value.is_null() {
            true => LeftOut::Any,
            // SAFETY: the value has as many limbs as the key.
            false => LeftOut::Value(unsafe { array(raw.value, raw.width.div_ceil(64)) }.to_vec()),
        };
        let name = text(raw.name);
        Some(KeyField { name, width: raw.width, shift: 0, kind, mask: None, left_out: Some(left_out) })
    }
}

impl Action {
    /// # Safety
    /// As for [`Description::read`].
    unsafe fn read(raw: &abi::Action) -> Action {
        // SAFETY: the array has as many elements as in the descriptor.
        let parameters = unsafe { array(raw.parameters, raw.parameter_count) };
        let read = |raw: &abi::Parameter| Parameter {
            name: text(raw.name),
            width: raw.width,
            offset: raw.offset,
            form: if raw.form == 0 { ParameterForm::Number } else { ParameterForm::Bytes },
        };
        Action { name: text(raw.name), parameters: parameters.iter().map(read).collect() }
    }
}

impl Register {
    fn read(raw: &abi::RegisterDescriptor) -> Register {
        // SAFETY: a value that is not NULL has as many limbs as the width needs.
        let initial = unsafe { array(raw.initial, raw.width.div_ceil(64)) };
        Register {
            name: text(raw.name),
            size: raw.size,
            width: raw.width,
            element_bytes: raw.element_bytes,
            initial: initial.to_vec(),
        }
    }
}

/// A C string of a pipeline; NULL is empty.
fn text(raw: *const c_char) -> String {
    if raw.is_null() {
        return String::new();
    }
    // SAFETY: pipelines end their strings, which live as long as they do.
    unsafe { CStr::from_ptr(raw) }.to_string_lossy().into_owned()
}

/// # Safety
/// `raw` is NULL or has `count` elements.
unsafe fn texts(raw: *const *const c_char, count: u32) -> Vec<String> {
    // SAFETY: the caller's promise.
    unsafe { array(raw, count) }.iter().map(|raw| text(*raw)).collect()
}

/// # Safety
/// `raw` is NULL or has `count` elements that live as long as `'a`.
unsafe fn array<'a, T>(raw: *const T, count: u32) -> &'a [T] {
    if raw.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(raw, count as usize) }
}
