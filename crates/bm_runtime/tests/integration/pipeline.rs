//! The program: its description, and another one in its place.

use crate::rig::EVERYTHING;
use crate::{Switch, add_host, frame, text};
use bm_runtime::standard::{ResourceType, StandardClient};
use bm_runtime::state_file;
use control::message::runtime::get_forwarding_pipeline_config_request::ResponseType;
use control::{DataPlane as _, Store};

#[test]
fn the_config_describes_tables_and_actions() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let config = text(StandardClient(&mut connection).bm_get_config()).expect("a program runs");
    let config: serde_json::Value = serde_json::from_str(&config).expect("it is JSON");
    let tables = config["pipelines"][0]["tables"].as_array().expect("there are tables");
    let table = |name: &str| tables.iter().find(|table| table["name"] == name).expect("the table is listed");
    assert_eq!(table("ingress.hosts")["match_type"], "exact");
    assert_eq!(table("ingress.hosts")["key"][0]["target"], serde_json::json!(["ethernet", "dst"]));
    assert_eq!(table("ingress.hosts")["support_timeout"], true);
    assert_eq!(table("ingress.acl")["match_type"], "range");
    assert_eq!(table("ingress.paths")["type"], "indirect_ws");
    assert_eq!(table("ingress.shared")["action_profile"], "ingress.profile");
    let actions = config["actions"].as_array().expect("there are actions");
    let forward = actions.iter().find(|action| action["name"] == "ingress.forward").expect("the action is listed");
    assert_eq!(forward["runtime_data"], serde_json::json!([{ "name": "port", "bitwidth": 9 }]));
    let ethernet = config["header_types"].as_array().expect("there are types").iter();
    let mut ethernet = ethernet.filter(|kind| kind["name"] == "ethernet_t");
    let fields = &ethernet.next().expect("the type is listed")["fields"];
    assert!(fields.as_array().expect("it has fields").contains(&serde_json::json!(["dst", 48, false])), "{fields}");
    let counter = &config["counter_arrays"];
    assert!(counter.to_string().contains(r#""binding":"ingress.hosts""#), "{counter}");
}

#[test]
fn the_switch_describes_itself() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let info = text(client.bm_mgmt_get_info()).expect("the switch answers");
    assert_eq!((info.device_id, info.thrift_port), (0, i32::from(switch.server.address().port())));
    assert_eq!(info.notifications_socket, None);
    let digest = text(client.bm_get_config_md5()).expect("the switch answers");
    assert_eq!(digest.0.len(), 16);
    let id = text(client.bm_get_id_from_name(0, ResourceType::Register, "last".to_string()));
    assert_eq!(id, Ok(0));
    let none = text(client.bm_get_id_from_name(0, ResourceType::Register, "first".to_string()));
    assert_eq!(none, Err("InvalidName".to_string()));
}

#[test]
fn the_state_is_a_text_from_which_the_store_is_made_again() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    add_host(&mut connection, 1, 4).expect("the entry suits");
    let state = text(StandardClient(&mut connection).bm_serialize_state()).expect("a program runs");
    let saved = state_file::read(&String::from_utf8(state.0).expect("it is a text")).expect("it is as written");
    let behind = switch.rig.behind();
    let store = behind.plane.store();
    assert_eq!(saved.program, hlir::text::print_program(store.program()));
    let rows = saved.rows.iter().map(|(key, value)| (key.as_slice(), value.as_slice()));
    let (again, refused) = Store::of_rows(store.program().clone(), rows);
    assert_eq!(refused, Vec::<String>::new());
    let sorted = |store: &Store| {
        let mut rows: Vec<_> = store.rows().collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(sorted(&again), sorted(store));
}

#[test]
fn another_program_runs_after_the_swap() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    add_host(&mut connection, 1, 4).expect("the entry suits");
    let mut client = StandardClient(&mut connection);
    assert_eq!(text(client.bm_swap_configs()), Err("NotOngoing".to_string()));
    let failed = text(client.bm_load_new_config("control {".to_string())).expect_err("this is no program");
    assert!(!failed.is_empty());
    let failed = text(client.bm_load_new_config(" \n".to_string())).expect_err("there is no program");
    assert!(failed.contains("is empty"), "{failed}");
    let renamed = EVERYTHING.replace("table hosts", "table neighbours").replace("hosts.apply", "neighbours.apply");
    text(client.bm_load_new_config(renamed)).expect("the program is well formed");
    assert_eq!(switch.ports_of(1, &frame(1)), [4], "the first program runs until the swap");
    let again = text(client.bm_load_new_config(EVERYTHING.to_string()));
    assert_eq!(again, Err("Ongoing".to_string()));
    text(client.bm_swap_configs()).expect("a program is loaded");
    assert_eq!(text(client.bm_mt_get_num_entries(0, "hosts".to_string())), Err("InvalidTableName".to_string()));
    assert_eq!(text(client.bm_mt_get_num_entries(0, "neighbours".to_string())), Ok(0));
    let mut controller = switch.rig.client();
    let info = controller.get_config(ResponseType::P4infoAndCookie).expect("a config runs");
    assert!(format!("{info:?}").contains("neighbours"), "controllers of P4Runtime see the same program");
}
