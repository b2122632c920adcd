//! The switch's notifications as they come, and packets for it.

use super::Session;
use super::entries::key_cell;
use super::input::{Input, option, seconds, unknown_option};
use super::write::update;
use crate::failure::{Failure, code_name};
use crate::names::{self, Named as _, Names};
use crate::output::{Cell, Form, Report};
use crate::primary::of_stream;
use control::message::runtime::{
    DigestEntry, DigestList, DigestListAck, IdleTimeoutNotification, MasterArbitrationUpdate, PacketIn, PacketMetadata,
    PacketOut, digest_entry::Config, entity::Entity, stream_message_request::Update as Request,
    stream_message_response::Update as Answer, update::Type,
};
use std::rc::Rc;
use std::time::{Duration, Instant};
use stf::{Line, Mistake};
use tonic::Code;

/// When a command that waits has seen enough; else it goes on until it is interrupted.
#[derive(Default)]
struct Until {
    count: Option<u64>,
    deadline: Option<Instant>,
}

impl Until {
    /// The time is over: a user who named a number expects it.
    fn ended(&self, left: Option<u64>) -> Result<(), Failure> {
        match (self.count, left) {
            (Some(count), Some(left)) => Err(Failure::refused(format!("{} of {count} came", count - left))),
            _ => Ok(()),
        }
    }
}

/// What of the stream a command shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Packets,
    Digests,
    All,
}

/// Something that happened.
struct Event {
    kind: &'static str,
    figures: Vec<(String, Cell)>,
}

impl Session {
    pub fn digests(&mut self, input: &mut Input) -> Result<(), Failure> {
        let names = self.names()?;
        if let Some(verb) = input.one_of(&["add", "modify", "delete"]) {
            return self.write_subscription(&names, &verb, input);
        }
        let mut line = input.line()?;
        let mut chosen = Vec::new();
        let mut options = None;
        while line.goes_on() && options.is_none() {
            let word = line.name("a digest, `count N` or `for SECONDS`")?;
            match word.text.as_str() {
                "count" | "for" if line.is_number() => options = Some(word),
                _ => chosen.push(names::find(&word, "digest", &names.info.digests)?.id()),
            }
        }
        let until = until(&mut line, options)?;
        if chosen.is_empty() {
            chosen = names.info.digests.iter().map(|digest| digest.id()).collect();
        }
        if chosen.is_empty() {
            return Err(Failure::refused("the program has no digests"));
        }
        self.client.listen()?;
        let asked = self.ask_digests(&names, &chosen)?;
        let shown = self.print_notifications(&names, Shown::Digests, until);
        self.leave_digests(asked)?;
        shown
    }

    pub fn packets(&mut self, input: &mut Input) -> Result<(), Failure> {
        let names = self.names()?;
        if input.one_of(&["send"]).is_some() {
            return self.send_packet(&names, input);
        }
        let until = until(&mut input.line()?, None)?;
        if self.client.report()?.is_some_and(|report| report.cpu_port.is_none()) {
            let message = "the switch has no CPU port, so no packets come to controllers: start it with --cpu-port N";
            return Err(Failure::refused(message));
        }
        self.client.listen()?;
        self.print_notifications(&names, Shown::Packets, until)
    }

    pub fn watch(&mut self, input: &Input) -> Result<(), Failure> {
        let names = self.names()?;
        let until = until(&mut input.line()?, None)?;
        self.client.listen()?;
        let all: Vec<u32> = names.info.digests.iter().map(|digest| digest.id()).collect();
        let asked = self.ask_digests(&names, &all)?;
        let shown = self.print_notifications(&names, Shown::All, until);
        self.leave_digests(asked)?;
        shown
    }

    /// Subscribes to digests that no controller has subscribed to, and returns those, to unsubscribe at the end.
    fn ask_digests(&mut self, names: &Names, digests: &[u32]) -> Result<Vec<DigestEntry>, Failure> {
        let mut asked = Vec::new();
        for digest_id in digests {
            let config = Some(Config { max_timeout_ns: 0, max_list_size: 1, ack_timeout_ns: 1_000_000_000 });
            let entry = DigestEntry { digest_id: *digest_id, config };
            let label = format!("digest {}", names::name_of(*digest_id, &names.info.digests));
            match self.write_one(label, update(Type::Insert, Entity::DigestEntry(entry))) {
                Ok(()) => asked.push(entry),
                Err(Failure::Refused(why))
                    if why.iter().any(|why| why.sentence.contains(code_name(Code::AlreadyExists))) => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(asked)
    }

    fn leave_digests(&mut self, asked: Vec<DigestEntry>) -> Result<(), Failure> {
        asked.into_iter().try_for_each(|entry| {
            let entry = DigestEntry { config: None, ..entry };
            self.write_one("digest".to_string(), update(Type::Delete, Entity::DigestEntry(entry)))
        })
    }

    fn print_notifications(&mut self, names: &Rc<Names>, shown: Shown, until: Until) -> Result<(), Failure> {
        let mut left = until.count;
        while left != Some(0) {
            let Some(answer) = self.client.next(until.deadline)? else { return until.ended(left) };
            let events = match &answer {
                Answer::Packet(packet) if shown != Shown::Digests => vec![packet_event(names, packet)],
                Answer::Digest(list) if shown != Shown::Packets => digest_events(names, list),
                Answer::IdleTimeoutNotification(idle) if shown == Shown::All => idle_events(names, idle),
                Answer::Arbitration(update) if shown == Shown::All => vec![arbitration_event(update)],
                Answer::Error(error) => return Err(of_stream(error)),
                Answer::Packet(_)
                | Answer::Digest(_)
                | Answer::IdleTimeoutNotification(_)
                | Answer::Arbitration(_)
                | Answer::Other(_) => Vec::new(),
            };
            if let Answer::Digest(list) = &answer {
                let ack = DigestListAck { digest_id: list.digest_id, list_id: list.list_id };
                self.client.send(Request::DigestAck(ack))?;
            }
            for event in &events {
                let text = event.print(self.form);
                (self.print)(&text);
                left = left.map(|left| left.saturating_sub(1));
            }
        }
        Ok(())
    }

    fn send_packet(&mut self, names: &Names, input: &mut Input) -> Result<(), Failure> {
        let mut digits = String::new();
        while let Some(word) = input.word_if(|word| word.chars().all(|c| c.is_ascii_hexdigit())) {
            digits += &word.text;
        }
        if digits.is_empty() {
            return Err(input.expected("the packet's bytes in hexadecimal digits").into());
        }
        if digits.len() % 2 == 1 {
            return Err(Mistake::new(input.expected("").place, "the last byte has one digit only").into());
        }
        let byte = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let payload = digits.as_bytes().chunks(2).filter_map(byte).collect();
        let fields = names.packet_header("packet_out");
        let mut metadata = Vec::new();
        let mut line = input.line()?;
        while line.goes_on() {
            let name = line.name("a field of the header `packet_out`")?;
            line.mark(":")?;
            let at =
                stf::names::find(&name, "field of the header `packet_out`", fields.iter().map(|field| field.name))?;
            let value = fields[at].encode(&crate::field::word(&mut line)?)?;
            metadata.push(PacketMetadata { metadata_id: fields[at].id, value });
        }
        self.client.send_packet(PacketOut { payload, metadata })
    }
}

/// `count N` and `for SECONDS`; `first` is a word of theirs that was read.
fn until(line: &mut Line, mut first: Option<stf::command::Word>) -> Result<Until, Mistake> {
    let mut until = Until::default();
    let expected = "`count N` or `for SECONDS`";
    while first.is_some() || line.goes_on() {
        let name = match first.take() {
            Some(name) => name,
            None => line.name(expected)?,
        };
        match name.text.as_str() {
            "count" => until.count = Some(option(line, &name)?),
            "for" => until.deadline = Some(Instant::now() + Duration::from_secs_f64(seconds(line, &name)?)),
            _ => return Err(unknown_option(&name, expected)),
        }
    }
    Ok(until)
}

fn packet_event(names: &Names, packet: &PacketIn) -> Event {
    let fields = names.packet_header("packet_in");
    let mut figures = Vec::new();
    for given in &packet.metadata {
        let field = fields.iter().find(|field| field.id == given.metadata_id);
        let (name, value) = match field {
            Some(field) => (field.name.to_string(), Cell::shown(field.show(&given.value), field.json(&given.value))),
            None => {
                let text = crate::field::show(&given.value, crate::field::Look::Number);
                (given.metadata_id.to_string(), text.into())
            }
        };
        figures.push((name, value));
    }
    figures.push(("length".to_string(), (packet.payload.len() as u64).into()));
    let digits: String = packet.payload.iter().map(|byte| format!("{byte:02x}")).collect();
    figures.push(("payload".to_string(), digits.into()));
    Event { kind: "packet", figures }
}

/// One for each record.
fn digest_events(names: &Names, list: &DigestList) -> Vec<Event> {
    let digest = names.info.digests.iter().find(|digest| digest.id() == list.digest_id);
    let spec = digest.and_then(|digest| digest.type_spec.clone()).unwrap_or_default();
    let name = digest.map_or_else(|| list.digest_id.to_string(), |digest| digest.name().to_string());
    let events = list.data.iter().map(|record| Event {
        kind: "digest",
        figures: vec![
            ("digest".to_string(), name.clone().into()),
            ("record".to_string(), names.show_data("", &spec, record).into()),
        ],
    });
    events.collect()
}

fn idle_events(names: &Names, idle: &IdleTimeoutNotification) -> Vec<Event> {
    let events = idle.table_entry.iter().map(|entry| {
        let table = names.info.tables.iter().find(|table| table.id() == entry.table_id);
        let key = table.map_or(Cell::Empty, |table| key_cell(&names.keys(&table.match_fields), entry));
        let figures = vec![("table".to_string(), table.map(|table| table.name()).into()), ("entry".to_string(), key)];
        Event { kind: "idle", figures }
    });
    events.collect()
}

fn arbitration_event(update: &MasterArbitrationUpdate) -> Event {
    let status = update.status.clone().unwrap_or_default();
    Event { kind: "arbitration", figures: vec![("message".to_string(), status.message.into())] }
}

impl Event {
    fn print(&self, form: Form) -> String {
        let mut report = Report::new(&["event"]);
        report.columns.extend(self.figures.iter().map(|(name, _)| name.clone()));
        let figures = self.figures.iter().map(|(_, cell)| cell.clone());
        report.row([Cell::from(self.kind)].into_iter().chain(figures).collect());
        match form {
            Form::Json => report.print(form),
            // Events differ in their columns: each line is a table of its own.
            Form::Tsv => report.print(form).lines().skip(1).map(|line| format!("{line}\n")).collect(),
            Form::Text => {
                let figures = self.figures.iter().filter(|(_, cell)| *cell != Cell::Empty);
                let figures: String = figures.map(|(name, cell)| format!(" {name}:{}", cell.text())).collect();
                format!("{}{figures}\n", self.kind)
            }
        }
    }
}
