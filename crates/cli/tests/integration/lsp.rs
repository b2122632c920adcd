//! `bacus lsp` by its protocol: an editor opens programs, writes in them, and asks about names.

use crate::command::{bacus, path, ran, scratch};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

struct Editor {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: i64,
    /// Notifications that came before an answer.
    notified: Vec<Value>,
}

impl Editor {
    fn start() -> Editor {
        let mut server = bacus().arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        let mut editor = Editor { server, input, output, requests: 0, notified: Vec::new() };
        let answer = editor.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(answer["capabilities"]["renameProvider"], true, "{answer}");
        editor.notify("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input.as_mut().unwrap(), "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server is gone");
            match line.trim().split_once(": ") {
                Some(("Content-Length", number)) => length = number.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The whole answer to a request.
    fn asked(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.notified.push(message);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.asked(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn open(&mut self, file: &Path, text: &str) {
        let document = json!({ "uri": uri(file), "languageId": "p4", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, file: &Path, version: i32, changes: Value) {
        let document = json!({ "uri": uri(file), "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// The next diagnostics of a file.
    fn diagnostics(&mut self, file: &Path) -> Vec<Value> {
        loop {
            let message = if self.notified.is_empty() { self.receive() } else { self.notified.remove(0) };
            if message["params"]["uri"] == uri(file).as_str() {
                return message["params"]["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    fn end(mut self) {
        assert!(self.ask("shutdown", Value::Null).is_null());
        self.notify("exit", Value::Null);
        self.input = None;
        assert!(self.server.wait().unwrap().success());
    }
}

fn uri(file: &Path) -> String {
    format!("file://{}", file.display())
}

/// The position of a word's nth occurrence, and the parameters of a request about it.
fn at(file: &Path, text: &str, word: &str, nth: usize) -> Value {
    let (offset, _) = text.match_indices(word).nth(nth).unwrap_or_else(|| panic!("no {word} in {text}"));
    let before = &text[..offset];
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count();
    let position = json!({ "line": before.matches('\n').count(), "character": column });
    json!({ "textDocument": { "uri": uri(file) }, "position": position })
}

/// The text that a range of a text has.
fn part<'t>(text: &'t str, range: &Value) -> &'t str {
    let line = text.lines().nth(range["start"]["line"].as_u64().unwrap() as usize).unwrap();
    let column = |end: &str| range[end]["character"].as_u64().unwrap() as usize;
    &line[column("start")..column("end")]
}

const HEADERS: &str = "// Of the wire.
#define WIDE 48
typedef bit<WIDE> mac_t;
/** An Ethernet header. */
header ethernet_t { mac_t  dst;   mac_t src; bit<16> type; }
";

const PROGRAM: &str = r#"#include <core.p4>
#include <v1model.p4>
#include "headers.p4"
#define OUT s.egress_spec
const bit<9> UPLINK = 9w7;
struct headers { ethernet_t ethernet; }
struct metadata { }
parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { transition wire; }
    state wire { p.extract(h.ethernet); transition accept; }
}
control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    action forward(bit<9> port) { OUT = port; }
    table hosts {
        key = { h.ethernet.dst: exact; }
        actions = { forward; NoAction; }
        default_action = forward(UPLINK);
    }
    apply { hosts.apply(); }
}
control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h.ethernet); } }
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
"#;

/// Both files on the disk, and the program open.
fn opened(name: &str) -> (Editor, std::path::PathBuf, std::path::PathBuf) {
    let folder = fs::canonicalize(scratch(name)).unwrap();
    let [program, headers] = ["first.p4", "headers.p4"].map(|name| folder.join(name));
    fs::write(&program, PROGRAM).unwrap();
    fs::write(&headers, HEADERS).unwrap();
    let mut editor = Editor::start();
    editor.open(&program, PROGRAM);
    (editor, program, headers)
}

#[test]
fn diagnostics_come_while_a_program_is_written_and_go_when_it_is_mended() {
    // URIs of a `+` have two spellings: an editor gets its own.
    let (mut editor, program, _) = opened("lsp-c++");
    assert_eq!(editor.diagnostics(&program), Vec::<Value>::new());
    let found = editor.ask("textDocument/definition", at(&program, PROGRAM, "hosts.apply", 0));
    assert_eq!(found["uri"], uri(&program).as_str(), "{found}");
    let mut params = at(&program, PROGRAM, "wire; }", 0);
    params["newName"] = json!("cable");
    let renamed = editor.ask("textDocument/rename", params)["changes"].clone();
    assert_eq!(renamed.as_object().unwrap().keys().collect::<Vec<_>>(), [&uri(&program)]);
    // `port` becomes `part` in the action, by a change of one letter.
    let range = at(&program, PROGRAM, "port; }", 0)["position"].clone();
    let line = &range["line"];
    let column = range["character"].as_u64().unwrap();
    let range =
        json!({ "start": { "line": line, "character": column + 1 }, "end": { "line": line, "character": column + 2 } });
    editor.change(&program, 2, json!([{ "range": range, "text": "a" }]));
    let found = editor.diagnostics(&program);
    let errors: Vec<&Value> = found.iter().filter(|one| one["severity"] == 1).collect();
    let [error] = errors[..] else { panic!("one error: {found:?}") };
    assert!(error["message"].as_str().unwrap().contains("part"), "{error}");
    assert_eq!(
        part(&PROGRAM.replace("= port; }", "= part; }").replace("OUT = port", "OUT = part"), &error["range"]),
        "part",
        "{error}"
    );
    editor.change(&program, 3, json!([{ "text": PROGRAM }]));
    assert_eq!(editor.diagnostics(&program), Vec::<Value>::new());
    // Each beginning of the program, as if it were just written, is looked at; the end is whole again.
    for (version, end) in (4..).zip((1..PROGRAM.len()).step_by(97)) {
        editor.change(&program, version, json!([{ "text": PROGRAM[..end] }]));
        editor.ask("textDocument/hover", at(&program, PROGRAM, "#", 0));
    }
    editor.notified.clear();
    editor.change(&program, 100, json!([{ "text": PROGRAM.replace("headers.p4", "missing.p4") }]));
    let missing = editor.diagnostics(&program);
    assert!(
        missing[0]["message"].as_str().unwrap().contains("missing.p4") && missing[0]["range"]["start"]["line"] == 2,
        "{missing:?}"
    );
    editor.end();
}

#[test]
fn a_name_has_a_definition_a_type_and_a_width_also_in_an_included_file() {
    let (mut editor, program, headers) = opened("lsp-names");
    let mut definition =
        |word: &str, nth: usize| editor.ask("textDocument/definition", at(&program, PROGRAM, word, nth));
    let cases: [(&str, usize, &Path, &str, &str); 6] = [
        ("ethernet_t", 0, &headers, HEADERS, "ethernet_t"),
        ("dst: exact", 0, &headers, HEADERS, "dst"),
        ("ethernet.dst", 0, &program, PROGRAM, "ethernet"),
        ("wire; }", 0, &program, PROGRAM, "wire"),
        ("forward; NoAction", 0, &program, PROGRAM, "forward"),
        ("UPLINK)", 0, &program, PROGRAM, "UPLINK"),
    ];
    for (word, nth, file, text, name) in cases {
        let found = definition(word, nth);
        assert_eq!(
            (found["uri"].as_str(), part(text, &found["range"])),
            (Some(uri(file).as_str()), name),
            "{word}: {found}"
        );
    }
    let core = definition("packet_in", 0);
    assert!(core["uri"].as_str().is_some_and(|uri| uri.ends_with("/core.p4")), "{core}");
    let mut hover =
        |word: &str| editor.ask("textDocument/hover", at(&program, PROGRAM, word, 0))["contents"]["value"].clone();
    let cases = [
        ("ethernet_t", "header ethernet_t\n```\n\n112 bits, 14 bytes\n\nAn Ethernet header."),
        ("dst: exact", "bit<48> dst\n```\n\n48 bits, 6 bytes"),
        ("UPLINK)", "const bit<9> UPLINK = 7\n```\n\n9 bits"),
        ("port; }", "bit<9> port\n```\n\n9 bits"),
        ("hosts.apply", "table hosts"),
    ];
    for (word, expected) in cases {
        let text = hover(word);
        assert!(text.as_str().is_some_and(|text| text.contains(expected)), "{word}: {text}");
    }
    // The included file is asked about itself, once it is open.
    editor.open(&headers, HEADERS);
    let mut params = at(&headers, HEADERS, "dst", 0);
    params["context"] = json!({ "includeDeclaration": true });
    let found = editor.ask("textDocument/references", params);
    assert_eq!(found.as_array().map(Vec::len), Some(2), "its use is in the program: {found}");
    editor.end();
}

/// The program after the edits of a file.
fn edited(text: &str, edits: &Value) -> String {
    let mut edits: Vec<Value> = edits.as_array().unwrap().clone();
    edits.sort_by_key(|edit| (edit["range"]["start"]["line"].as_u64(), edit["range"]["start"]["character"].as_u64()));
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for edit in edits.iter().rev() {
        let number = |end: &str, part: &str| edit["range"][end][part].as_u64().unwrap() as usize;
        let line = &mut lines[number("start", "line")];
        line.replace_range(number("start", "character")..number("end", "character"), edit["newText"].as_str().unwrap());
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_name_is_renamed_everywhere_or_not_at_all() {
    let (mut editor, program, headers) = opened("lsp-rename");
    let mut rename = |word: &str, to: &str| {
        let mut params = at(&program, PROGRAM, word, 0);
        params["newName"] = json!(to);
        editor.asked("textDocument/rename", params)
    };
    let changes = rename("dst: exact", "target")["result"]["changes"].clone();
    assert_eq!(edited(HEADERS, &changes[uri(&headers)]), HEADERS.replace(" dst;", " target;"), "{changes}");
    assert_eq!(
        edited(PROGRAM, &changes[uri(&program)]),
        PROGRAM.replace("ethernet.dst", "ethernet.target"),
        "{changes}"
    );
    let changes = rename("wire; }", "cable")["result"]["changes"].clone();
    assert_eq!(edited(PROGRAM, &changes[uri(&program)]), PROGRAM.replace("wire", "cable"), "{changes}");
    let changes = rename("headers {", "all_t")["result"]["changes"].clone();
    let expected = PROGRAM.replace("headers h", "all_t h").replace("struct headers", "struct all_t");
    assert_eq!(edited(PROGRAM, &changes[uri(&program)]), expected, "{changes}");
    for (word, to, why) in [
        ("forward(bit", "table", "cannot be a name"),
        ("forward(bit", "2fast", "cannot be a name"),
        ("forward(bit", "hosts", "is declared at"),
        ("packet_in", "packet", "is of the architecture"),
        ("s) {\n    action", "standard", "comes of a macro at"),
        ("main", "principal", "cannot be renamed"),
        ("#include <core", "x", "no name here"),
    ] {
        let message = rename(word, to)["error"]["message"].clone();
        assert!(message.as_str().is_some_and(|message| message.contains(why)), "{word} to {to}: {message}");
    }
    editor.end();
}

#[test]
fn tables_have_the_cycles_of_the_last_explanation_and_documents_are_formatted() {
    let (mut editor, program, _) = opened("lsp-hints");
    let everything = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1000, "character": 0 } });
    let params = json!({ "textDocument": { "uri": uri(&program) }, "range": everything });
    assert_eq!(editor.ask("textDocument/inlayHint", params.clone()), json!([]), "it was never explained");
    let (code, text) = ran(&["explain", &program.display().to_string(), "--json"]);
    assert_eq!(code, Some(0), "{text}");
    let hints = editor.ask("textDocument/inlayHint", params);
    let [hint] = &hints.as_array().unwrap()[..] else { panic!("one table: {hints}") };
    let label = hint["label"].as_str().unwrap();
    let explained: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let node = explained["nodes"].as_array().unwrap().iter().find(|node| node["name"] == "ingress.hosts").unwrap();
    let cycles: f64 = ["issue", "memory", "mispredicted"].iter().map(|part| node[part].as_f64().unwrap()).sum();
    let shown: f64 = label.strip_suffix(" cycles").unwrap().parse().unwrap();
    assert!((shown - cycles).abs() < 0.1, "{label}, {cycles}");
    assert_eq!(hint["position"], json!({ "line": 13, "character": 15 }));
    let hover = editor.ask("textDocument/hover", at(&program, PROGRAM, "hosts", 0));
    assert!(hover.to_string().contains("cycles per packet"), "{hover}");
    let options =
        json!({ "textDocument": { "uri": uri(&program) }, "options": { "tabSize": 4, "insertSpaces": true } });
    assert_eq!(editor.ask("textDocument/formatting", options.clone()), json!([]), "it is formatted");
    editor.change(&program, 2, json!([{ "text": PROGRAM.replace("    ", "") }]));
    let edits = editor.ask("textDocument/formatting", options);
    assert_eq!(edits[0]["newText"], PROGRAM);
    editor.end();
}

/// What is no message, or of a file that is not open, is answered; and a server without an editor ends.
#[test]
fn an_editor_that_errs_is_answered_and_one_that_goes_ends_the_server() {
    let (mut editor, program, headers) = opened("lsp-mistakes");
    let unknown = editor.asked("textDocument/moniker", at(&program, PROGRAM, "hosts", 0));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let closed = editor.asked("textDocument/hover", at(Path::new("/none.p4"), PROGRAM, "hosts", 0));
    assert!(closed["error"]["message"].as_str().is_some_and(|text| text.contains("is not open")), "{closed}");
    let wrong = editor.asked("textDocument/hover", json!({ "textDocument": 7 }));
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let beyond = json!({ "textDocument": { "uri": uri(&program) }, "position": { "line": 9999, "character": 9999 } });
    assert!(editor.ask("textDocument/hover", beyond).is_null());
    editor.open(&headers, "header ethernet_t { bit<8> a");
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri(&program) } }));
    assert!(editor.asked("textDocument/hover", at(&program, PROGRAM, "hosts", 0))["error"].is_object());
    editor.input = None;
    assert!(editor.server.wait().unwrap().code().is_some());
    assert!(!path("apps").join("none.p4").exists());
}

/// Half a file is a program with an error, and the rest mends it.
#[test]
fn an_editor_that_sends_half_a_file_gets_its_mistakes_until_the_rest_comes() {
    let (mut editor, program, _) = opened("lsp-half");
    assert_eq!(editor.diagnostics(&program), Vec::<Value>::new());
    editor.change(&program, 2, json!([{ "text": &PROGRAM[..PROGRAM.len() / 2] }]));
    assert!(!editor.diagnostics(&program).is_empty(), "a control has no end");
    editor.change(&program, 3, json!([{ "text": PROGRAM }]));
    assert_eq!(editor.diagnostics(&program), Vec::<Value>::new());
    editor.end();
}

/// A message that is cut, or whose length is wrong, ends the server: where the next one begins is unknown.
#[test]
fn messages_that_are_cut_or_have_a_wrong_length_end_the_server_with_the_reason() {
    let request = r#"{"jsonrpc":"2.0","id":7,"method":"textDocument/moniker","params":{}}"#;
    let whole = format!("Content-Length: {}\r\n\r\n{request}", request.len());
    let cases = [
        (whole[..whole.len() - 20].to_string(), "failed to fill whole buffer"),
        (whole[..9].to_string(), "malformed header"),
        (format!("Content-Length: {}\r\n\r\n{request}{whole}", request.len() - 10), "malformed LSP payload"),
        (format!("Content-Length: {}\r\n\r\n{request}{whole}", request.len() + 10), "malformed LSP payload"),
        (format!("Content-Length: x\r\n\r\n{request}"), "invalid digit"),
        (format!("Content-Type: x\r\n\r\n{request}"), "no Content-Length"),
    ];
    for (sent, reason) in cases {
        let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
        let initialized = r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#;
        let begun = [initialize, initialized].map(|text| format!("Content-Length: {}\r\n\r\n{text}", text.len()));
        let mut command = bacus();
        command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        // The end of a server that has seen enough may come before the rest is written.
        drop(server.stdin.take().unwrap().write_all(format!("{}{sent}", begun.concat()).as_bytes()));
        let output = server.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{sent}: {said}");
        assert!(said.contains("error: the editor's connection ended: ") && said.contains(reason), "{sent}: {said}");
    }
}
