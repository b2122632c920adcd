//! The protocol files equal those that the P4Runtime project publishes: message by message, field by field.
//!
//! What is published is read from the Python package `p4runtime` 1.5.0. `BACUS_PYTHON` names an interpreter that has it; where there is none, the
//! test reports it and ends.

use prost::Message;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet};
use std::collections::BTreeMap;
use std::process::Command;

/// Prints each file's descriptor as a line of hexadecimal digits.
const PRINT: &str = "
import importlib
for name in ['p4.v1.p4runtime', 'p4.v1.p4data', 'p4.config.v1.p4info', 'p4.config.v1.p4types', 'google.rpc.status']:
    print(importlib.import_module(name + '_pb2').DESCRIPTOR.serialized_pb.hex())
";

fn published() -> Result<Vec<FileDescriptorProto>, String> {
    let python = std::env::var("BACUS_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let output = Command::new(&python)
        .args(["-c", PRINT])
        // Packages that were generated long ago need it.
        .env("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
        .output()
        .map_err(|error| format!("{python}: {error}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{python}: {}", errors.lines().last().unwrap_or_default()));
    }
    let text = String::from_utf8(output.stdout).expect("digits are ASCII");
    Ok(text.lines().map(|line| FileDescriptorProto::decode(bytes(line).as_slice()).expect("it is one")).collect())
}

fn bytes(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("digits are ASCII"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("it is hexadecimal")).collect()
}

/// The contents of each name: for a message its fields, for an enumeration its values, for a service its methods.
type Contents = BTreeMap<String, Vec<String>>;

fn message(prefix: &str, declared: &DescriptorProto, contents: &mut Contents) {
    let name = format!("{prefix}.{}", declared.name());
    let mut fields: Vec<String> = declared
        .field
        .iter()
        .map(|field| {
            let group = field.oneof_index.map(|index| declared.oneof_decl[index as usize].name());
            let deprecated = field.options.as_ref().is_some_and(|options| options.deprecated());
            let (label, kind, of_type) = (field.label(), field.r#type(), field.type_name());
            let (number, name, optional) = (field.number(), field.name(), field.proto3_optional());
            format!("{number} {name}: {label:?} {kind:?} {of_type} in {group:?} {optional} {deprecated}")
        })
        .collect();
    fields.sort();
    declared.nested_type.iter().for_each(|nested| message(&name, nested, contents));
    declared.enum_type.iter().for_each(|nested| enumeration(&name, nested, contents));
    contents.insert(name, fields);
}

fn enumeration(prefix: &str, declared: &EnumDescriptorProto, contents: &mut Contents) {
    let mut values: Vec<String> =
        declared.value.iter().map(|value| format!("{} {}", value.number(), value.name())).collect();
    values.sort();
    contents.insert(format!("{prefix}.{}", declared.name()), values);
}

fn contents(files: &[FileDescriptorProto]) -> Contents {
    let mut contents = Contents::new();
    for file in files {
        file.message_type.iter().for_each(|declared| message(file.package(), declared, &mut contents));
        file.enum_type.iter().for_each(|declared| enumeration(file.package(), declared, &mut contents));
        for service in &file.service {
            let methods = service.method.iter().map(|method| {
                let (name, from, to) = (method.name(), method.input_type(), method.output_type());
                format!("{name}: {from} {} {to} {}", method.client_streaming(), method.server_streaming())
            });
            let mut methods: Vec<String> = methods.collect();
            methods.sort();
            contents.insert(format!("{}.{}", file.package(), service.name()), methods);
        }
    }
    contents
}

#[test]
fn protocol_files_say_what_is_published() {
    let published = match published() {
        Ok(published) => contents(&published),
        Err(why) => {
            eprintln!("skipped: the Python package p4runtime 1.5.0 is missing ({why})");
            return;
        }
    };
    let own = FileDescriptorSet::decode(control::message::DESCRIPTORS).expect("they are descriptors");
    let mut own = contents(&own.file);
    own.retain(|name, _| !name.starts_with("google.protobuf."));
    assert!(published.len() > 100, "{} names", published.len());
    let names = |contents: &Contents| contents.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&own), names(&published));
    for (name, published) in &published {
        assert_eq!(own.get(name), Some(published), "{name}");
    }
}
