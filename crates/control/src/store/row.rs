//! The key of a row: which object of the store it holds.

use super::bytes::Bytes;

/// A meter's element: its index, the table and the packed key of an entry, or the table of a default action.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MeterElement {
    Index(u64),
    Entry(usize, Bytes),
    Default(usize),
}

/// One object: what its key holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// Table and packed key.
    Entry(usize, Bytes),
    /// Of a table: the default action, and what is attached to it.
    Default(usize),
    Expiry(usize, u8),
    Member(usize, u32),
    Group(usize, u32),
    ValueSet(usize),
    Multicast(u32),
    Session(u32),
    Meter(usize, MeterElement),
    Digest(usize),
    /// Type and text.
    Text(String, String),
    /// The rates of a direct meter's later entries.
    ArrayRates(usize),
    Crc(usize),
}

/// A row's key, and its value or none.
pub type Change = (Vec<u8>, Option<Vec<u8>>);

/// The rows that have changed since the last [`Store::take_changes`].
#[derive(Clone, Debug, Default)]
pub struct Journal(pub Vec<Row>);

impl Row {
    /// The key. Its first byte is never 0, which is left for other rows of the same file.
    pub fn key(&self) -> Vec<u8> {
        let numbered =
            |tag: u8, number: usize, rest: &[u8]| [&[tag], &(number as u32).to_be_bytes()[..], rest].concat();
        match self {
            Row::Entry(table, key) => numbered(1, *table, key),
            Row::Default(table) => numbered(2, *table, &[]),
            Row::Expiry(table, profile) => numbered(3, *table, &[*profile]),
            Row::Member(profile, member) => numbered(4, *profile, &member.to_be_bytes()),
            Row::Group(profile, group) => numbered(5, *profile, &group.to_be_bytes()),
            Row::ValueSet(set) => numbered(6, *set, &[]),
            Row::Multicast(group) => numbered(7, *group as usize, &[]),
            Row::Session(session) => numbered(8, *session as usize, &[]),
            Row::Meter(meter, element) => {
                let number = |number: usize| (number as u32).to_be_bytes();
                let element = match element {
                    MeterElement::Index(at) => [&[0], &at.to_be_bytes()[..]].concat(),
                    MeterElement::Entry(table, key) => [&[1], &number(*table)[..], key].concat(),
                    MeterElement::Default(table) => [&[2], &number(*table)[..]].concat(),
                };
                numbered(9, *meter, &element)
            }
            Row::Digest(digest) => numbered(10, *digest, &[]),
            Row::ArrayRates(meter) => numbered(12, *meter, &[]),
            Row::Crc(crc) => numbered(13, *crc, &[]),
            Row::Text(type_name, text) => [&[11], type_name.as_bytes(), &[0], text.as_bytes()].concat(),
        }
    }

    /// None: no version of bacus that this one knows has such a key.
    pub fn of_key(key: &[u8]) -> Option<Row> {
        let (tag, rest) = key.split_first()?;
        if *tag == 11 {
            let mut parts = std::str::from_utf8(rest).ok()?.splitn(2, '\0');
            return Some(Row::Text(parts.next()?.to_string(), parts.next()?.to_string()));
        }
        let (number, rest) = number(rest)?;
        let at = number as usize;
        let exactly = |rest: &[u8]| Some(()).filter(|()| rest.is_empty());
        let second = || {
            let (second, end) = self::number(rest)?;
            exactly(end).map(|()| second)
        };
        Some(match tag {
            1 => Row::Entry(at, Bytes::from(rest)),
            2 => exactly(rest).map(|()| Row::Default(at))?,
            3 if rest.len() == 1 => Row::Expiry(at, rest[0]),
            4 => Row::Member(at, second()?),
            5 => Row::Group(at, second()?),
            6 => exactly(rest).map(|()| Row::ValueSet(at))?,
            7 => exactly(rest).map(|()| Row::Multicast(number))?,
            8 => exactly(rest).map(|()| Row::Session(number))?,
            9 => Row::Meter(at, meter_element(rest)?),
            10 => exactly(rest).map(|()| Row::Digest(at))?,
            12 => exactly(rest).map(|()| Row::ArrayRates(at))?,
            13 => exactly(rest).map(|()| Row::Crc(at))?,
            _ => return None,
        })
    }
}

/// A number and what is behind it.
fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*number), rest))
}

fn meter_element(bytes: &[u8]) -> Option<MeterElement> {
    let (kind, rest) = bytes.split_first()?;
    if *kind == 0 {
        return Some(MeterElement::Index(u64::from_be_bytes(rest.try_into().ok()?)));
    }
    let (table, rest) = number(rest)?;
    match kind {
        1 => Some(MeterElement::Entry(table as usize, Bytes::from(rest))),
        2 if rest.is_empty() => Some(MeterElement::Default(table as usize)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_name_their_rows() {
        let key = Bytes::from(&[7u8; 30][..]);
        let rows = [
            Row::Entry(3, key.clone()),
            Row::Default(1),
            Row::Expiry(2, 255),
            Row::Member(0, u32::MAX),
            Row::Group(1, 0),
            Row::ValueSet(9),
            Row::Multicast(77),
            Row::Session(u32::MAX),
            Row::Meter(1, MeterElement::Index(u64::MAX)),
            Row::Meter(1, MeterElement::Entry(4, key)),
            Row::Meter(1, MeterElement::Default(4)),
            Row::Digest(5),
            Row::ArrayRates(3),
            Row::Crc(2),
            Row::Text("port_id_t".to_string(), "Ethernet1/1".to_string()),
        ];
        for row in rows {
            assert_eq!(Row::of_key(&row.key()), Some(row));
        }
        for bytes in [&[][..], &[0], &[1, 0, 0], &[2, 0, 0, 0, 1, 9], &[4, 0, 0, 0, 1], &[99, 0, 0, 0, 0], &[11, b'x']]
        {
            assert_eq!(Row::of_key(bytes), None, "{bytes:?}");
        }
    }
}
