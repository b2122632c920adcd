//! Ports, in the forms that the protocol has had for them.
//!
//! The switch knows a port by its number. A controller may have named the port of the controller by the protocol's own number, or may
//! have used a field that the protocol has given up since. What it reads is in the form that it wrote.

use crate::failure::{Failure, Outcome};
use crate::schema::{PortSchema, Reading, Schema};
use crate::target::{Switch, Target, follow_link};
use crate::value;
use control::plane::BackedReplica;
use tonic::Code;

/// The protocol's number of the CPU port.
const SDN_CPU: u32 = 0xffff_fffd;

/// The field was a number, which the protocol has given up.
const NUMBER: u8 = 1;
/// The CPU port was named by the protocol's number.
const OF_CONTROLLER: u8 = 2;

/// Which ports the switch has.
#[derive(Clone, Copy)]
pub struct Ports<'a> {
    /// The CPU port's number.
    pub cpu_port: Option<u32>,
    pub target: &'a dyn Target,
}

impl Ports<'_> {
    /// Whether the switch has a port of this number; that of packets that are recirculated is always there.
    fn has(&self, number: u32, schema: &Schema) -> bool {
        let is_special = Some(number) == self.cpu_port || Some(number) == schema.ports.recirculation;
        is_special || self.target.has_port(number)
    }

    /// Refuses replicas of which none is for a port that the switch has: no packet would leave. Others may be for ports that are added later.
    pub fn check_any<'r>(&self, schema: &Schema, replicas: impl IntoIterator<Item = &'r BackedReplica>) -> Outcome {
        let mut ports = replicas.into_iter().flat_map(BackedReplica::candidates).map(|replica| replica.port).peekable();
        match ports.peek().copied() {
            Some(first) if !ports.any(|port| self.has(port, schema)) => {
                Err(Failure::invalid(format!("the switch has no port {first}, nor that of another replica")))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Replicas have backups for ports that the switch will only have later: until then, those have no link.
    pub fn follow_missing<'r>(
        &self,
        schema: &Schema,
        switch: &mut dyn Switch,
        replicas: impl IntoIterator<Item = &'r BackedReplica>,
    ) {
        let ports = replicas.into_iter().flat_map(BackedReplica::candidates).map(|replica| replica.port);
        ports.filter(|port| !self.has(*port, schema)).for_each(|port| follow_link(switch, port, false));
    }
}

/// Reads the ports of an object in their order, and notes the form of each, in the program's own words for ports. The port that a member of a group
/// (P4Runtime 1.5, 9.2.2) or an action of a set (9.2.3) watches is one that the switch has. A replica (9.5.1, 9.5.2) may be for a port that will be added
/// later, as finsy's examples write them: any that the program can name, if another one is there.
pub struct PortReader<'a> {
    ports: Ports<'a>,
    schema: &'a Schema,
    forms: Vec<u8>,
}

impl<'a> PortReader<'a> {
    pub fn new(ports: Ports<'a>, schema: &'a Schema) -> PortReader<'a> {
        PortReader { ports, schema, forms: Vec::new() }
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> Outcome<u32> {
        let PortSchema { width, reading, .. } = &self.schema.ports;
        let number = match reading {
            _ if bytes == SDN_CPU.to_be_bytes() => SDN_CPU.into(),
            Reading::Text(dictionary) => {
                let text = std::str::from_utf8(bytes).map_err(|_| Failure::invalid("the port is no text in UTF-8"))?;
                self.schema.dictionaries.known(text, *dictionary, *width, "port")?
            }
            Reading::Number | Reading::Bits(_) => value::read(bytes, u32::BITS, "port")?,
        };
        self.switch_number(number.iter_u32_digits().next().unwrap_or(0), 0)
    }

    pub fn number(&mut self, number: u32) -> Outcome<u32> {
        self.switch_number(number, NUMBER)
    }

    /// A port that a member watches; none if there are no bytes.
    pub fn watched(&mut self, bytes: &[u8]) -> Outcome<Option<u32>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let number = self.bytes(bytes)?;
        self.existing(number).map(Some)
    }

    pub fn watched_number(&mut self, number: i32) -> Outcome<u32> {
        let number = u32::try_from(number).map_err(|_| Failure::invalid("the watched port is negative"))?;
        let number = self.number(number)?;
        self.existing(number)
    }

    fn existing(&self, number: u32) -> Outcome<u32> {
        match self.ports.has(number, self.schema) {
            true => Ok(number),
            false => Err(Failure::invalid(format!("the switch has no port {number}"))),
        }
    }

    fn switch_number(&mut self, number: u32, form: u8) -> Outcome<u32> {
        let PortSchema { width, recirculation, numbers, .. } = self.schema.ports;
        if number == SDN_CPU {
            self.forms.push(form | OF_CONTROLLER);
            return self.ports.cpu_port.ok_or_else(|| Failure::invalid("the switch has no CPU port"));
        }
        if u32::BITS - number.leading_zeros() > width {
            return Err(Failure::new(Code::OutOfRange, format!("port {number} does not fit {width} bits")));
        }
        if let Some(why) = numbers.unusable(number).filter(|_| Some(number) != recirculation) {
            return Err(Failure::invalid(why));
        }
        self.forms.push(form);
        Ok(number)
    }

    /// The forms, with what else the controller attached to the object.
    pub fn note(self, attached: &[u8]) -> Vec<u8> {
        let count = self.forms.iter().rposition(|form| *form != 0).map_or(0, |last| last + 1);
        if count == 0 && attached.is_empty() {
            return Vec::new();
        }
        [&(count as u32).to_be_bytes(), &self.forms[..count], attached].concat()
    }
}

/// A port as a controller reads it.
pub enum Written {
    Bytes(Vec<u8>),
    Number(u32),
}

impl Written {
    /// For fields that are bytes in every version.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Written::Bytes(bytes) => bytes,
            Written::Number(number) => value::write(&number.into()),
        }
    }
}

/// Writes the ports of an object in their order, each in its form.
pub struct PortWriter<'n> {
    schema: &'n Schema,
    forms: std::slice::Iter<'n, u8>,
}

impl<'n> PortWriter<'n> {
    /// From a note of [`PortReader::note`]. Gives what else was attached, too.
    pub fn new(note: &'n [u8], schema: &'n Schema) -> (PortWriter<'n>, &'n [u8]) {
        let (forms, attached) = match note.split_first_chunk::<4>() {
            Some((count, rest)) => rest.split_at((u32::from_be_bytes(*count) as usize).min(rest.len())),
            None => (&[][..], &[][..]),
        };
        (PortWriter { schema, forms: forms.iter() }, attached)
    }

    pub fn next(&mut self, port: u32) -> Written {
        let form = self.forms.next().copied().unwrap_or(0);
        let number = if form & OF_CONTROLLER == 0 { port } else { SDN_CPU };
        match (form & NUMBER == 0, form & OF_CONTROLLER == 0) {
            (false, _) => Written::Number(number),
            (true, false) => Written::Bytes(value::write(&number.into())),
            (true, true) => Written::Bytes(self.schema.dictionaries.write(&number.into(), &self.schema.ports.reading)),
        }
    }
}
