//! A program as it is read: what was found so far, and the order in which its parts are lowered.

use std::collections::{BTreeSet, HashMap};

use hlir::build::Builder;
use hlir::build::v1model::{self, Ends, Metadata, Parts};
use hlir::diagnostic::Diagnostic;
use hlir::{Interface, Program};
use serde_json::Value;

use crate::instances::Storage;
use crate::json::{At, Read};
use crate::reader::Reader;
use crate::requests::Uses;

/// The newest version of the format that is read: that of BMv2, which refuses newer ones, too.
pub const NEWEST_VERSION: [u64; 2] = [2, 24];

/// The errors of core.p4, in its order.
const CORE_ERRORS: [&str; 7] = [
    "NoError",
    "PacketTooShort",
    "NoMatch",
    "StackOutOfBounds",
    "HeaderTooShort",
    "ParserTimeout",
    "ParserInvalidArgument",
];

pub fn read(root: &Value, name: &str, interface: Option<&Interface>) -> Result<Program, Vec<Diagnostic>> {
    let mut builder = Builder::default();
    builder.program.name = name.to_string();
    builder.program.architecture = "v1model".to_string();
    let mut reader = Reader {
        root: At::root(root),
        builder,
        storage: Storage::default(),
        metadata: Metadata::default(),
        body: Vec::new(),
        parameters: Vec::new(),
        actions: HashMap::new(),
        calculations: HashMap::new(),
        counters: HashMap::new(),
        meters: HashMap::new(),
        registers: HashMap::new(),
        profiles: HashMap::new(),
        value_sets: HashMap::new(),
        digests: HashMap::new(),
        error_numbers: Vec::new(),
        interface,
        mistakes: Vec::new(),
        scratch: 0,
    };
    let done = reader.read_program();
    reader.mistakes.extend(done.err());
    if !reader.mistakes.is_empty() {
        return Err(reader.mistakes);
    }
    let interface = reader.interface;
    let mut program = reader.builder.finish(&[]);
    crate::interface::freeze(&mut program, interface).map_err(|mistake| vec![mistake])?;
    let wrong = hlir::verify::verify(&program);
    if wrong.iter().any(Diagnostic::is_error) { Err(wrong) } else { Ok(program) }
}

impl<'j> Reader<'j> {
    fn read_program(&mut self) -> Read<()> {
        self.check_version()?;
        self.read_errors()?;
        self.read_storage()?;
        self.find_standard_metadata()?;
        self.read_objects()?;
        self.read_actions()?;
        let metadata = self.read_uses();
        self.connect(metadata)
    }

    fn check_version(&self) -> Read<()> {
        let hint = "compile the program with a p4c of 2017 or later, for BMv2's target `simple_switch`";
        let version = self.root.field("__meta__").and_then(|meta| meta.field("version")?.tuple::<2>());
        let [major, minor] = version.map_err(|mistake| mistake.hint(hint))?;
        let found = [major.number()?, minor.number()?];
        let [known, newest] = NEWEST_VERSION;
        let (at, range, hint) = match found {
            [number, _] if number != known => (major, format!("version {known}.x is read"), hint),
            [_, number] if number > newest => {
                (minor, format!("the newest that is read is {known}.{newest}"), "compile the program with an older p4c")
            }
            _ => return Ok(()),
        };
        Err(at.error(format!("this is version {}.{} of the format; {range}", found[0], found[1])).hint(hint))
    }

    /// The program's errors. HLIR numbers those of core.p4 first; the JSON may number them as it likes.
    fn read_errors(&mut self) -> Read<()> {
        let mut numbers: HashMap<&str, u64> = HashMap::new();
        let mut others = Vec::new();
        for at in self.root.list("errors")? {
            let [name, number] = at.tuple()?;
            let (name, number) = (name.text()?, number.number()?);
            if numbers.insert(name, number).is_none() && !CORE_ERRORS.contains(&name) {
                others.push(name);
            }
        }
        // BMv2 adds the core errors that are missing, above all others.
        let mut next = numbers.values().max().map_or(0, |most| most + 1);
        for name in CORE_ERRORS.into_iter().chain(others) {
            let number = numbers.get(name).copied().unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            self.builder.program.errors.push(name.to_string());
            self.error_numbers.push(number);
        }
        Ok(())
    }

    /// Lowers the parts in the order of a packet, and connects them.
    fn connect(&mut self, uses: Uses) -> Read<()> {
        let ends = Ends::new(&mut self.builder);
        let parser = self.read_parser(ends.parsed)?;
        let parser_uses = self.used_metadata();
        let ingress_start = self.builder.plain_block("bridge");
        let verify = self.verification(ingress_start)?;
        let ingress = self.read_pipeline("ingress", ends.ingress)?;
        self.builder.graph.goto(ingress_start, ingress);
        let egress_begin = self.builder.plain_block("egress.begin");
        let egress = self.read_pipeline("egress", ends.egress)?;
        let deparser_start = self.builder.plain_block("bridge");
        let compute = self.update(deparser_start)?;
        let deparser = self.read_deparser(ends.output)?;
        self.builder.graph.goto(deparser_start, deparser);
        let parts = Parts {
            parser,
            verify,
            egress_begin,
            egress,
            compute,
            parser_uses,
            forgotten: BTreeSet::new(),
            egress_drops: uses.egress_drops,
            egress_asks: uses.egress_drops,
        };
        if !self.mistakes.is_empty() {
            return Ok(());
        }
        let metadata = std::mem::take(&mut self.metadata);
        v1model::connect(&mut self.builder, metadata, &ends, &parts);
        Ok(())
    }

    fn used_metadata(&self) -> Vec<hlir::VariableId> {
        self.metadata.slots.iter().filter_map(|slot| self.builder.slots.variable(*slot)).collect()
    }
}
