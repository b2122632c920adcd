//! The pcapng format: blocks, of which those with packets and those that describe interfaces are read, and others passed over.

use super::Record;
use super::classic::Order;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Bytes of a block around what is in it: its kind, and its length twice.
const FRAME_BYTES: usize = 12;

struct Interface {
    link: u32,
    /// Bytes of a packet that are captured, at most; 0 for all.
    longest: u32,
}

pub fn is_one(bytes: &[u8]) -> bool {
    Order::LowestFirst.word(bytes, 0) == Some(SECTION)
}

pub fn records(bytes: &[u8]) -> Result<Vec<Record<'_>>, String> {
    let (mut order, mut interfaces, mut records, mut at) = (Order::LowestFirst, Vec::new(), Vec::new(), 0);
    while at < bytes.len() {
        let truncated = || format!("a truncated capture: the block at byte {at} ends after the end of the file");
        if order.word(bytes, at).ok_or_else(truncated)? == SECTION {
            order = byte_order(bytes, at)?;
            interfaces.clear();
        }
        let (kind, length) = order.word(bytes, at).zip(order.word(bytes, at + 4)).ok_or_else(truncated)?;
        let block = bytes.get(at..at + length as usize).ok_or_else(truncated)?;
        if block.len() < FRAME_BYTES || !block.len().is_multiple_of(4) {
            return Err(format!("a damaged capture: the block at byte {at} has a length of {length} bytes"));
        }
        let inside = &block[8..block.len() - 4];
        let damaged = || format!("a damaged capture: the block at byte {at} is too short for its type");
        match kind {
            INTERFACE => interfaces.push(interface(inside, order).ok_or_else(damaged)?),
            PACKET | OLD_PACKET | SIMPLE_PACKET => {
                records.push(packet(kind, inside, order, &interfaces).ok_or_else(damaged)?);
            }
            _ => {}
        }
        at += block.len();
    }
    Ok(records)
}

/// That of the section which begins here.
fn byte_order(bytes: &[u8], at: usize) -> Result<Order, String> {
    let orders = [Order::LowestFirst, Order::HighestFirst];
    let found = orders.into_iter().find(|order| order.word(bytes, at + 8) == Some(BYTE_ORDER));
    found.ok_or_else(|| format!("a damaged capture: the section at byte {at} has no valid byte-order mark"))
}

fn interface(inside: &[u8], order: Order) -> Option<Interface> {
    Some(Interface { link: u32::from(order.half(inside, 0)?), longest: order.word(inside, 4)? })
}

fn packet<'c>(kind: u32, inside: &'c [u8], order: Order, interfaces: &[Interface]) -> Option<Record<'c>> {
    let of = |number: u32| interfaces.get(number as usize);
    if kind == SIMPLE_PACKET {
        let (length, interface) = (order.word(inside, 0)?, of(0)?);
        let captured = if interface.longest == 0 { length } else { length.min(interface.longest) };
        return Some(Record { bytes: inside.get(4..4 + captured as usize)?, length, link: interface.link });
    }
    let number = if kind == PACKET { order.word(inside, 0)? } else { u32::from(order.half(inside, 0)?) };
    let (captured, length) = (order.word(inside, 12)?, order.word(inside, 16)?);
    Some(Record { bytes: inside.get(20..20 + captured as usize)?, length, link: of(number)?.link })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of this kind, in this order, with these words and bytes in it.
    fn block(order: Order, kind: u32, words: &[u32], bytes: &[u8]) -> Vec<u8> {
        let padded = bytes.len().next_multiple_of(4);
        let length = (FRAME_BYTES + 4 * words.len() + padded) as u32;
        let word = |word: u32| if order == Order::LowestFirst { word.to_le_bytes() } else { word.to_be_bytes() };
        let mut made: Vec<u8> = [kind, length].iter().chain(words).flat_map(|number| word(*number)).collect();
        made.extend(bytes);
        made.resize(length as usize - 4, 0);
        made.extend(word(length));
        made
    }

    fn capture(order: Order) -> Vec<u8> {
        let link = if order == Order::LowestFirst { 1 } else { 1 << 16 };
        [
            block(order, SECTION, &[BYTE_ORDER, 1, u32::MAX, u32::MAX], &[]),
            block(order, INTERFACE, &[link, 0], &[]),
            block(order, 5, &[0], b"statistics"),
            block(order, PACKET, &[0, 0, 0, 5, 5], &[1, 2, 3, 4, 5]),
            block(order, SIMPLE_PACKET, &[3], &[6, 7, 8]),
            block(order, PACKET, &[0, 0, 0, 2, 9], &[9, 9]),
        ]
        .concat()
    }

    #[test]
    fn packets_are_found_among_blocks_in_both_byte_orders() {
        let both = [capture(Order::LowestFirst), capture(Order::HighestFirst)].concat();
        assert!(is_one(&both));
        let records = records(&both).unwrap();
        let found: Vec<(&[u8], u32, u32)> =
            records.iter().map(|record| (record.bytes, record.length, record.link)).collect();
        let section: [(&[u8], u32, u32); 3] = [(&[1, 2, 3, 4, 5], 5, 1), (&[6, 7, 8], 3, 1), (&[9, 9], 9, 1)];
        assert_eq!(found, [section, section].concat());
    }

    #[test]
    fn damaged_blocks_say_where() {
        let whole = capture(Order::LowestFirst);
        let message = |bytes: &[u8]| records(bytes).map(|_| ()).unwrap_err();
        assert!(message(&whole[..whole.len() - 1]).contains("truncated"));
        let mut short = whole.clone();
        short[4] = 8;
        assert_eq!(message(&short), "a damaged capture: the block at byte 0 has a length of 8 bytes");
        let without = [whole[..28].to_vec(), block(Order::LowestFirst, PACKET, &[0, 0, 0, 1, 1], &[1])].concat();
        assert!(message(&without).contains("too short for its type"), "no interface was described");
    }
}
