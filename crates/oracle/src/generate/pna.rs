//! Random programs for PNA: a parser, perhaps a pre-control, one main control, a deparser.

use super::Generator;
use super::parsers::Head;
use super::statements::indented;
use super::types::{Ty, Variable};

impl Generator {
    pub fn pna_program(&mut self) -> String {
        let head = Head {
            name: "P",
            parameters: "pna_main_parser_input_metadata_t std".into(),
            locals: "    bit<32> arrived = (bit<32>) std.input_port;\n    bit<3> turn = (bit<3>) std.pass;\n    InternetChecksum() sum;\n",
            variables: vec![("arrived", Ty::Bits(32)), ("turn", Ty::Bits(3))],
            start: "    state start {\n        transition begin;\n    }\n".into(),
            path: ("std.direction, meta.m1", ["(PNA_Direction_t.HOST_TO_NET, _)", "(_, 0)"]),
        };
        let mut text = self.parsers(head);
        for depth in 0..self.random.below(3) {
            text.push_str(&self.subcontrol(depth));
        }
        text.push_str(&self.pre_control());
        let variable = |text: &str, ty: Ty| Variable { text: text.into(), ty, writable: false, solid: false };
        let extra = [variable("is_again", Ty::Bool), variable("arrived", Ty::Bits(32))];
        let own = "in pna_main_input_metadata_t std, inout pna_main_output_metadata_t ostd";
        text.push_str(&self.main_control("I", own, &extra));
        let seen: String = self
            .seen(&self.types.named("meta_t"))
            .into_iter()
            .map(|(name, _, value)| indented(2, &format!("seen.{name} = {value};")))
            .collect();
        let emissions =
            self.emissions().replace("pkt.emit(hdr);", "pkt.emit(hdr.base);\n        pkt.emit(hdr.steady);");
        text.push_str(&format!(
            "control D(packet_out pkt, in headers_t hdr, in meta_t meta, in pna_main_output_metadata_t ostd) {{
    apply {{
        seen_t seen;
        seen.setValid();
{seen}{emissions}        pkt.emit(seen);
    }}
}}
"
        ));
        text + "PNA_NIC(P(), Before(), I(), D()) main;\n"
    }

    fn pre_control(&mut self) -> String {
        let statement = match self.random.below(4) {
            0 => "meta.m0 = meta.m0 + pre.base.k;",
            1 => "if (std.parser_error == error.NoError && std.pass == (PassNumber_t) 0) { meta.m1 = meta.m1 + 7; }",
            2 => "meta.flag = std.direction == PNA_Direction_t.NET_TO_HOST;",
            _ => "",
        };
        let body = if statement.is_empty() { String::new() } else { indented(2, statement) };
        format!(
            "control Before(in headers_t pre, inout meta_t meta, in pna_pre_input_metadata_t std, inout pna_pre_output_metadata_t ostd) {{
    apply {{
{body}    }}
}}
"
        )
    }

    /// What the main control begins with: where the packet goes, by the second byte.
    pub fn pna_prologue(&mut self) -> String {
        let [port, other, session] = [(); 3].map(|()| self.random.between(1, 7));
        let mut branches = vec![
            "recirculate();".to_string(),
            "drop_packet();".to_string(),
            format!("drop_packet(); send_to_port((PortId_t) {other});"),
            format!("mirror_packet((MirrorSlotId_t) 0, (MirrorSessionId_t) {session});"),
            format!("drop_packet(); mirror_packet((MirrorSlotId_t) 2, (MirrorSessionId_t) {session});"),
        ];
        self.random.shuffle(&mut branches);
        let mut text = indented(2, &format!("if (is_again) {{ send_to_port((PortId_t) {port}); }}"));
        for (at, branch) in branches.iter().enumerate().take(self.random.between(1, 4)) {
            text.push_str(&indented(2, &format!("else if (hdr.base.l == {at}) {{ {branch} }}")));
        }
        text + &indented(2, &format!("else {{ send_to_port((PortId_t) {port}); }}"))
    }

    pub fn pna_locals(&self) -> String {
        indented(1, "bool is_again = std.pass != (PassNumber_t) 0;")
            + &indented(1, "bit<32> arrived = (bit<32>) std.input_port;")
    }
}
