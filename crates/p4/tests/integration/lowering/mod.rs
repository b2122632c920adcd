//! P4 in, HLIR out: one small program for each rule that lowering has to keep.
//!
//! What is compared is the text of tables and nodes, as a person would read it; each result has passed the verifier and survived printing.

mod calls;
mod control;
mod parsers;
mod tables;
mod values;

/// The architecture of these tests: a parser, a control, a deparser.
const ARCHITECTURE: &str = r#"
error { NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument }
extern packet_in { void extract<T>(out T hdr); T lookahead<T>(); void advance(in bit<32> bits); }
extern packet_out { void emit<T>(in T hdr); }
extern void verify(in bool check, in error toSignal);
action NoAction() {}
match_kind { exact, ternary, lpm }
header h_t { bit<8> a; bit<8> b; }
header_union u_t { h_t x; h_t y; }
struct hs_t { h_t h; h_t g; h_t[3] s; u_t u; }
struct m_t { bit<8> x; bit<8> y; bit<32> i; bool f; }
extern bit<8> effect(inout bit<8> value);
parser P(packet_in p, out hs_t hdr, inout m_t m);
control C(inout hs_t hdr, inout m_t m);
package Top(P p, C c);
"#;

const ACCEPT: &str = "parser p(packet_in p, out hs_t hdr, inout m_t m) { state start { transition accept; } }";

/// The tables and nodes of a program in that architecture.
pub fn lowered(program: &str) -> String {
    let text = format!("{ARCHITECTURE}{program}\nTop(p(), c()) main;\n");
    let parsed = p4::parse("test.p4", &text);
    let (checked, found) = p4::check::check(&parsed.program);
    let mistakes: Vec<_> = parsed.diagnostics.iter().chain(&found).filter(|mistake| mistake.is_error()).collect();
    assert!(mistakes.is_empty(), "{}", mistakes[0].render(&parsed.map));
    let program = match p4::lower(&checked, &parsed.map, "test") {
        Ok(program) => program,
        Err(mistakes) => return mistakes.iter().map(|mistake| mistake.render(&parsed.map)).collect(),
    };
    assert_eq!(hlir::verify::verify(&program), Vec::new());
    let text = hlir::text::print_program(&program);
    assert_eq!(hlir::text::parse_program(&text).as_ref(), Ok(&program));
    let from = |word: &str| text.find(&format!("\n{word} "));
    let start = [from("table"), from("parser")].into_iter().flatten().min().unwrap_or(0);
    let end = text.find("\ninterface").unwrap_or(text.len());
    without_origins(text[start..end].trim_start())
}

/// These tests do not check places in the source.
fn without_origins(text: &str) -> String {
    let words = |line: &str| {
        let mut kept = Vec::new();
        let mut words = line.split(' ').peekable();
        while let Some(word) = words.next() {
            let is_origin = word == "from" && words.peek().is_some_and(|next| next.contains(':'));
            if is_origin {
                let origin = words.next().unwrap_or_default();
                // What closes behind the place stays.
                if let Some(last) = kept.last_mut() {
                    let tail: String = origin.chars().skip_while(|sign| !",)".contains(*sign)).collect();
                    *last = format!("{last}{tail}");
                }
            } else {
                kept.push(word.to_string());
            }
        }
        kept.join(" ")
    };
    text.lines().map(|line| words(line) + "\n").collect()
}

/// A control with this apply block, and what it becomes.
pub fn control(locals: &str, body: &str) -> String {
    let text = lowered(&format!("{ACCEPT}\ncontrol c(inout hs_t hdr, inout m_t m) {{ {locals} apply {{ {body} }} }}"));
    match text.find("\nnode c.") {
        Some(start) => {
            let tables = text.find("table ").filter(|table| *table < start).map_or("", |table| &text[table..]);
            let tables = tables.split("\nparser").next().unwrap_or("");
            let nodes = text[start + 1..].split("\nnode p.").next().unwrap_or("").trim_end();
            if tables.starts_with("table") {
                format!("{}\n\n{nodes}\n", tables.trim_end())
            } else {
                format!("{nodes}\n")
            }
        }
        None => text,
    }
}
