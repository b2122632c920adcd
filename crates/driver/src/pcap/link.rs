//! Link types of captures, and how packets of others become Ethernet frames.

/// Those that are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    Ethernet,
    /// IP packets without anything in front.
    RawIp,
    /// What Linux captures on `any`: 16 bytes in front, among them the sender's address.
    Cooked,
    /// The same in 20 bytes.
    Cooked2,
}

const COOKED_BYTES: usize = 16;
const COOKED2_BYTES: usize = 20;

impl Link {
    pub fn of(number: u32) -> Result<Link, String> {
        match number {
            1 => Ok(Link::Ethernet),
            // By the number of the format, and by those that systems have had for it.
            101 | 12 | 14 | 228 | 229 => Ok(Link::RawIp),
            113 => Ok(Link::Cooked),
            276 => Ok(Link::Cooked2),
            other => Err(format!(
                "a capture of link type {other}; what is understood is Ethernet (1), Linux cooked (113, 276) and raw IP (101): \
                 capture on an Ethernet interface"
            )),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Link::Ethernet => "Ethernet",
            Link::RawIp => "raw IP",
            Link::Cooked | Link::Cooked2 => "Linux cooked mode",
        }
    }

    /// Where the addresses come from.
    pub fn addresses(self) -> &'static str {
        match self {
            Link::Ethernet => "those captured",
            Link::RawIp => "both addresses are zero",
            Link::Cooked | Link::Cooked2 => "the destination is zero, the source the captured one",
        }
    }

    /// The Ethernet frame of a packet; nothing, if the packet ends within the headers before it.
    pub fn frame(self, packet: &[u8]) -> Option<Vec<u8>> {
        match self {
            Link::Ethernet => Some(packet.to_vec()),
            Link::RawIp => {
                let kind = if packet.first()? >> 4 == 6 { [0x86, 0xdd] } else { [0x08, 0x00] };
                Some(framed(&[0; 6], kind, packet))
            }
            Link::Cooked => {
                let header = packet.get(..COOKED_BYTES)?;
                Some(framed(&header[6..12], [header[14], header[15]], &packet[COOKED_BYTES..]))
            }
            Link::Cooked2 => {
                let header = packet.get(..COOKED2_BYTES)?;
                Some(framed(&header[12..18], [header[0], header[1]], &packet[COOKED2_BYTES..]))
            }
        }
    }
}

fn framed(source: &[u8], kind: [u8; 2], rest: &[u8]) -> Vec<u8> {
    [&[0; 6], source, &kind, rest].concat()
}
