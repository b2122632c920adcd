//! Random programs for PSA: both pipelines with headers and metadata of the same types, and metadata that goes with copies.

use super::Generator;
use super::code::{Mode, Parameter, Place};
use super::parsers::Head;
use super::statements::indented;
use super::types::{Ty, Variable};

/// Types that metadata of a deparser can have: the text that reads one into `meta` or `hdr`, and the one that fills it.
struct Luggage {
    name: &'static str,
    load: &'static str,
    store: &'static str,
}

const LUGGAGE: [Luggage; 6] = [
    Luggage { name: "meta_t", load: "meta = #m;", store: "#m = meta;" },
    Luggage {
        name: "meta_t",
        load: "meta = #m;",
        store: "#m.m1 = meta.m1; #m.kept = hdr.one; #m.array[2] = meta.m0; #m.colour = meta.colour;",
    },
    Luggage {
        name: "carry_t",
        load: "meta.kept = #m.head; meta.m0 = #m.number; meta.inner = #m.inner; hdr.items[2] = #m.items[1]; hdr.either = #m.either;",
        store: "#m.head = hdr.one; #m.number = meta.m0; #m.inner = meta.inner; #m.items[1] = hdr.items[0]; #m.either = hdr.either;",
    },
    Luggage { name: "inner_t", load: "meta.other = #m;", store: "#m = meta.inner;" },
    Luggage { name: "one_t", load: "meta.kept = #m;", store: "#m = hdr.one;" },
    Luggage { name: "empty_t", load: "", store: "" },
];

const DECLARED: &str = "struct empty_t {}
struct carry_t {
    one_t head;
    bit<8> number;
    inner_t inner;
    item_t[2] items;
    either_t either;
}
";

/// What the deparsers of both pipelines apply: the sum begins anew each time.
const SUMMING: &str = "control Summing(in bit<16> from, inout bit<8> into) {
    InternetChecksum() sum;
    Checksum<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc;
    Checksum<bit<16>>(PSA_HashAlgorithm_t.ONES_COMPLEMENT16) ones;
    apply {
        ones.update({ from, into, 8w#s });
        into = into ^ ones.get()[7:0];
        sum.add(from);
        sum.subtract({ into, 8w#d });
        crc.update(into);
        crc.update({ from, 8w#s });
        into = into + sum.get()[7:0] ^ crc.get()[7:0];
        if (from == #d) {
            crc.clear();
        }
        crc.update(8w#d);
        into = into ^ crc.get()[15:8];
        bit<16> state = sum.get_state();
        sum.clear();
        sum.set_state(state);
        sum.add(16w#d);
        into = into ^ sum.get()[15:8];
    }
}
";

impl Generator {
    pub fn psa_program(&mut self) -> String {
        let [resubmitted, recirculated, normal, from_ingress, from_egress] =
            [(); 5].map(|()| self.random.below(LUGGAGE.len()));
        let mut text = DECLARED.to_string();
        let summing = self.filled(SUMMING);
        text.push_str(&summing);
        let head = self.psa_ingress_head(resubmitted, recirculated);
        text.push_str(&self.parsers(head));
        let head = self.psa_egress_head(normal, from_ingress, from_egress);
        text.push_str(&self.parsers(head));
        for depth in 0..self.random.below(3) {
            text.push_str(&self.subcontrol(depth));
        }
        for (name, side) in [("I", "ingress"), ("E", "egress")] {
            let parameters = format!("in psa_{side}_input_metadata_t std, inout psa_{side}_output_metadata_t ostd");
            let variable = |text: &str, ty: Ty| Variable { text: text.into(), ty, writable: false, solid: false };
            let extra = [variable("is_again", Ty::Bool), variable("arrived", Ty::Bits(32))];
            text.push_str(&self.main_control(name, &parameters, &extra));
        }
        text.push_str(&self.ingress_deparser(from_ingress, resubmitted, normal));
        text.push_str(&self.egress_deparser(from_egress, recirculated));
        text + "IngressPipeline(P(), I(), ID()) ip;
EgressPipeline(EP(), E(), ED()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
"
    }

    fn psa_ingress_head(&mut self, resubmitted: usize, recirculated: usize) -> Head {
        let [again, around] = [resubmitted, recirculated].map(|at| LUGGAGE[at].name);
        let start = dispatch(&[
            ("RESUBMIT", "resubmitted", &loaded(resubmitted, "resubmit_meta")),
            ("RECIRCULATE", "recirculated", &loaded(recirculated, "recirculate_meta")),
        ]);
        Head {
            name: "P",
            parameters: format!(
                "psa_ingress_parser_input_metadata_t std, in {again} resubmit_meta, in {around} recirculate_meta"
            ),
            locals: "    bit<32> arrived = (bit<32>) std.ingress_port;\n    InternetChecksum() sum;\n",
            variables: vec![("arrived", Ty::Bits(32))],
            start,
            path: ("std.packet_path, meta.m1", ["(PSA_PacketPath_t.RESUBMIT, _)", "(_, 0)"]),
        }
    }

    fn psa_egress_head(&mut self, normal: usize, from_ingress: usize, from_egress: usize) -> Head {
        let [one, two, three] = [normal, from_ingress, from_egress].map(|at| LUGGAGE[at].name);
        let normally = loaded(normal, "normal_meta");
        let start = dispatch(&[
            ("NORMAL_UNICAST", "normal", &normally),
            ("NORMAL_MULTICAST", "normal", ""),
            ("CLONE_I2E", "from_ingress", &loaded(from_ingress, "clone_i2e_meta")),
            ("CLONE_E2E", "from_egress", &loaded(from_egress, "clone_e2e_meta")),
        ]);
        Head {
            name: "EP",
            parameters: format!(
                "psa_egress_parser_input_metadata_t std, in {one} normal_meta, in {two} clone_i2e_meta, in {three} clone_e2e_meta"
            ),
            locals: "    bit<32> arrived = (bit<32>) std.egress_port;\n    InternetChecksum() sum;\n",
            variables: vec![("arrived", Ty::Bits(32))],
            start,
            path: ("std.packet_path, meta.m1", ["(PSA_PacketPath_t.CLONE_I2E, _)", "(_, 0)"]),
        }
    }

    /// What ingress begins with: where the packet goes, by the second byte. A packet that re-enters goes out.
    pub fn psa_ingress_prologue(&mut self) -> String {
        let [port, other, session, class] = [(); 4].map(|()| self.random.between(1, 7));
        let mut branches = vec![
            "send_to_port(ostd, PSA_PORT_RECIRCULATE);".to_string(),
            format!("send_to_port(ostd, (PortId_t) {other}); ostd.resubmit = true;"),
            format!("multicast(ostd, (MulticastGroup_t) 1); ostd.class_of_service = (ClassOfService_t) {class};"),
            format!("ostd.clone = true; ostd.clone_session_id = (CloneSessionId_t) {session};"),
            format!(
                "send_to_port(ostd, (PortId_t) {other}); ostd.clone = true; ostd.clone_session_id = (CloneSessionId_t) {session};"
            ),
            "ostd.drop = false; ostd.resubmit = true; ostd.multicast_group = (MulticastGroup_t) 1;".to_string(),
        ];
        self.random.shuffle(&mut branches);
        let mut text = indented(2, &format!("if (is_again) {{ send_to_port(ostd, (PortId_t) {port}); }}"));
        for (at, branch) in branches.iter().enumerate().take(self.random.between(1, 4)) {
            text.push_str(&indented(2, &format!("else if (hdr.base.l == {at}) {{ {branch} }}")));
        }
        text + &indented(2, &format!("else {{ send_to_port(ostd, (PortId_t) {port}); }}"))
    }

    /// What egress begins with, beside what it shows.
    pub fn psa_egress_prologue(&mut self) -> String {
        let mut text = String::new();
        if self.random.chance(50) {
            text.push_str(&indented(2, "if (meta.kept.isValid()) { hdr.one = meta.kept; }"));
        }
        if self.random.chance(50) {
            text.push_str(&indented(
                2,
                "meta.m1 = meta.m1 + ((bit<16>) (bit<8>) std.class_of_service ^ (bit<16>) std.instance);",
            ));
            text.push_str(&indented(2, "hdr.seen.s1 = meta.m1;"));
        }
        if self.random.chance(40) {
            let (value, session) = (self.random.between(0, 7), self.random.between(1, 7));
            let clone = format!("ostd.clone = true; ostd.clone_session_id = (CloneSessionId_t) {session};");
            text.push_str(&indented(2, &format!("if (!is_again && hdr.base.k == {value}) {{ {clone} }}")));
        }
        if self.random.chance(20) {
            text.push_str(&indented(2, "if (hdr.base.l == 6) { egress_drop(ostd); }"));
        }
        text
    }

    /// Assigns metadata, mostly under the condition that asks for it.
    fn stored(&mut self, at: usize, name: &str, condition: &str) -> String {
        let store = LUGGAGE[at].store.replace("#m", name);
        if store.is_empty() {
            return String::new();
        }
        if self.random.chance(30) {
            indented(2, &store)
        } else {
            indented(2, &format!("if ({condition}) {{ {store} }}"))
        }
    }

    fn deparser_code(&mut self) -> String {
        let mut variables = self.header_variables(true);
        let meta = self.types.named("meta_t");
        variables.push(Variable { text: "meta".into(), ty: meta, writable: false, solid: false });
        let mut code = self.code(Place::Deparser, variables, 3);
        let mut text = self.statements(&mut code, 3, 2);
        for target in ["hdr.base.k", "hdr.base.l"] {
            if self.random.chance(25) {
                let call = format!("summing.apply(meta.m1, {target});");
                text.push_str(&indented(2, &call));
                text.push_str(&indented(2, &format!("whole.update(hdr.base); {target} = whole.get()[7:0];")));
            }
        }
        text
    }

    fn ingress_deparser(&mut self, from_ingress: usize, resubmitted: usize, normal: usize) -> String {
        let mut parts = [
            self.stored(from_ingress, "clone_i2e_meta", "psa_clone_i2e(std)"),
            self.stored(resubmitted, "resubmit_meta", "psa_resubmit(std)"),
            self.stored(normal, "normal_meta", "psa_normal(std)"),
            self.deparser_code(),
        ];
        self.random.shuffle(&mut parts);
        let [one, two, three] = [from_ingress, resubmitted, normal].map(|at| LUGGAGE[at].name);
        let digest = if self.random.chance(30) { indented(2, "told.pack(meta.m0);") } else { String::new() };
        format!(
            "control ID(packet_out pkt, out {one} clone_i2e_meta, out {two} resubmit_meta, out {three} normal_meta,
        inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t std) {{
    Summing() summing;
    Checksum<bit<32>>(PSA_HashAlgorithm_t.CRC32) whole;
    Digest<bit<8>>() told;
    apply {{
{}{digest}{}    }}
}}
",
            parts.concat(),
            self.emissions()
        )
    }

    fn egress_deparser(&mut self, from_egress: usize, recirculated: usize) -> String {
        let mut parts = [
            self.stored(from_egress, "clone_e2e_meta", "psa_clone_e2e(std)"),
            self.stored(recirculated, "recirculate_meta", "psa_recirculate(std, edstd)"),
            self.deparser_code(),
        ];
        self.random.shuffle(&mut parts);
        let [one, two] = [from_egress, recirculated].map(|at| LUGGAGE[at].name);
        format!(
            "control ED(packet_out pkt, out {one} clone_e2e_meta, out {two} recirculate_meta,
        inout headers_t hdr, in meta_t meta, in psa_egress_output_metadata_t std,
        in psa_egress_deparser_input_metadata_t edstd) {{
    Summing() summing;
    Checksum<bit<32>>(PSA_HashAlgorithm_t.CRC32) whole;
    apply {{
{}{}    }}
}}
",
            parts.concat(),
            self.emissions()
        )
    }

    /// The main control of a pipeline: its own parameters behind headers and metadata.
    pub fn main_control(&mut self, name: &str, own: &str, extra: &[Variable]) -> String {
        let mut variables = self.header_variables(true);
        let (headers, meta) = (self.types.named("headers_t"), self.types.named("meta_t"));
        variables.push(Variable { text: "meta".into(), ty: meta.clone(), writable: true, solid: false });
        variables.push(Variable { text: "std.parser_error".into(), ty: Ty::Error, writable: false, solid: false });
        variables.extend(extra.iter().cloned());
        let parameter = |name: &str, ty: Ty| Parameter { mode: Mode::InOut, ty, name: name.into() };
        let parameters = [parameter("hdr", headers), parameter("meta", meta)];
        let depth = if name == "I" { 2 } else { 0 };
        let control = self.control(name, &parameters, variables, depth);
        let before = std::mem::take(&mut self.before);
        before + &control.replacen(") {", &format!(", {own}) {{"), 1)
    }

    /// Local variables of a main control that have the packet's path.
    pub fn psa_locals(&self, name: &str) -> String {
        let path = if name == "I" {
            "std.packet_path != PSA_PacketPath_t.NORMAL"
        } else {
            "std.packet_path == PSA_PacketPath_t.CLONE_I2E || std.packet_path == PSA_PacketPath_t.CLONE_E2E"
        };
        let port = if name == "I" { "ingress_port" } else { "egress_port" };
        indented(1, &format!("bool is_again = {path};"))
            + &indented(1, &format!("bit<32> arrived = (bit<32>) std.{port};"))
    }
}

fn loaded(at: usize, name: &str) -> String {
    LUGGAGE[at].load.replace("#m", name)
}

/// States that take the metadata of each packet path, and go on to the common one.
fn dispatch(paths: &[(&str, &str, &str)]) -> String {
    let mut text = indented(1, "state start {") + &indented(2, "transition select(std.packet_path) {");
    for (path, state, _) in paths {
        text.push_str(&indented(3, &format!("PSA_PacketPath_t.{path} : {state};")));
    }
    text.push_str(&(indented(3, "default : begin;") + &indented(2, "}") + &indented(1, "}")));
    let mut known = Vec::new();
    for (_, state, load) in paths {
        if !known.contains(state) {
            known.push(*state);
            let body = if load.is_empty() { String::new() } else { indented(2, load) };
            text.push_str(&format!("    state {state} {{\n{body}        transition begin;\n    }}\n"));
        }
    }
    text
}
