//! An interface with something of every kind, and what controllers read of it. `UPDATE_EXPECT=1` writes it anew.

use control::format::{self, Format, Kind};
use expect_test::expect_file;

const PROGRAM: &str = include_str!("described/everything.hlir");

fn program() -> hlir::Program {
    hlir::text::parse_program(PROGRAM).unwrap_or_else(|errors| panic!("{errors:?}"))
}

#[test]
fn everything_is_described() {
    let text = format::write(Kind::P4Info, &control::p4info(&program()), Format::Text);
    expect_file!["described/everything.p4info.txtpb"].assert_eq(std::str::from_utf8(&text).unwrap());
    format::read(Kind::P4Info, std::str::from_utf8(&text).unwrap()).unwrap();
}

#[test]
fn entries_are_written_as_a_controller_would() {
    let text = format::write(Kind::WriteRequest, &control::entries::entries(&program()), Format::Text);
    expect_file!["described/everything.entries.txtpb"].assert_eq(std::str::from_utf8(&text).unwrap());
}

#[test]
fn all_formats_say_the_same_every_time() {
    let program = program();
    let info = control::p4info(&program);
    for kind in [Format::Text, Format::Json, Format::Bytes] {
        let once = format::write(Kind::P4Info, &info, kind);
        assert_eq!(once, format::write(Kind::P4Info, &control::p4info(&program), kind));
    }
    let json = format::write(Kind::P4Info, &info, Format::Json);
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["tables"][0]["matchFields"][0]["matchType"], "LPM");
    let bytes = format::write(Kind::P4Info, &info, Format::Bytes);
    let again: control::message::config::P4Info = prost::Message::decode(bytes.as_slice()).unwrap();
    assert_eq!(again, info);
}
