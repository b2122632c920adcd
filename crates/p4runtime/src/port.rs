//! Ports, in the forms that the protocol has had for them.
//!
//! The switch knows a port by its number. A controller may have named the port of the controller by the protocol's own number, or may
//! have used a field that the protocol has given up since. What it reads is in the form that it wrote.

use crate::failure::{Failure, Outcome};
use crate::schema::{PortSchema, Reading, Schema};
use crate::target::Target;
use crate::value;
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

/// Reads the ports of an object in their order, and notes the form of each. Each is a port of the switch and of the program, in the program's own
/// words for ports: the member of a group (P4Runtime 1.5, 9.2.2), the action of a set (9.2.3), a replica (9.5.1, 9.5.2).
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
        if bytes.is_empty() { Ok(None) } else { self.bytes(bytes).map(Some) }
    }

    pub fn watched_number(&mut self, number: i32) -> Outcome<u32> {
        let number = u32::try_from(number).map_err(|_| Failure::invalid("the watched port is negative"))?;
        self.number(number)
    }

    fn switch_number(&mut self, number: u32, form: u8) -> Outcome<u32> {
        let PortSchema { width, recirculation, .. } = self.schema.ports;
        if number == SDN_CPU {
            self.forms.push(form | OF_CONTROLLER);
            return self.ports.cpu_port.ok_or_else(|| Failure::invalid("the switch has no CPU port"));
        }
        if u32::BITS - number.leading_zeros() > width {
            return Err(Failure::new(Code::OutOfRange, format!("port {number} does not fit {width} bits")));
        }
        if Some(number) != recirculation && !self.ports.target.has_port(number) {
            return Err(Failure::invalid(format!("the switch has no port {number}")));
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
