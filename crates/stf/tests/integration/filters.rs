//! Filters decide as soon as what is known of a packet allows.

use num_bigint::BigUint;
use stf::filter::{Facts, Filter, Subject};

/// A packet of port 1, dropped if that is known.
struct Packet {
    is_dropped: Option<bool>,
}

impl Facts for Packet {
    fn values(&self, subject: Subject) -> Option<Vec<BigUint>> {
        match subject {
            Subject::IngressPort => Some(vec![1u8.into()]),
            Subject::Dropped => self.is_dropped.map(|is_dropped| vec![u8::from(is_dropped).into()]),
            Subject::Field(_)
            | Subject::Header(_)
            | Subject::Variable(_)
            | Subject::PacketLength
            | Subject::EgressPort => Some(Vec::new()),
        }
    }
}

#[test]
fn what_is_not_known_is_left_open_where_it_matters() {
    let program = hlir::text::parse_file(include_str!("../stf/packets.hlir")).unwrap().program;
    for (text, on_the_way, dropped, sent) in [
        ("", Some(true), Some(true), Some(true)),
        ("ingress_port == 1", Some(true), Some(true), Some(true)),
        ("dropped", None, Some(true), Some(false)),
        ("!dropped", None, Some(false), Some(true)),
        ("ingress_port == 2 && dropped", Some(false), Some(false), Some(false)),
        ("dropped && ingress_port == 2", Some(false), Some(false), Some(false)),
        ("dropped && ingress_port == 1", None, Some(true), Some(false)),
        ("dropped || ingress_port == 1", Some(true), Some(true), Some(true)),
        ("dropped || ingress_port == 2", None, Some(true), Some(false)),
        ("!(dropped && ingress_port == 2)", Some(true), Some(true), Some(true)),
    ] {
        let filter = Filter::parse(&program, text).unwrap();
        let decided = [None, Some(true), Some(false)].map(|is_dropped| filter.decide(&Packet { is_dropped }));
        assert_eq!(decided, [on_the_way, dropped, sent], "{text}");
    }
}
