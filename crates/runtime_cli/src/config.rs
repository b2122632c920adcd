//! The program as BMv2's JSON describes it: what names mean, and how wide values are.

use crate::problem::{Outcome, Problem, input};
use bm_runtime::standard::MatchType;
use serde_json::Value;
use std::collections::BTreeMap;
use stf::command::Word;
use stf::{Place, names};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub name: String,
    pub kind: MatchType,
    pub width: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableType {
    Simple,
    Indirect,
    WithSelector,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub kind: MatchType,
    pub table_type: TableType,
    pub has_timeouts: bool,
    pub actions: Vec<String>,
    pub keys: Vec<Key>,
    pub profile: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Action {
    pub name: String,
    /// Name and width of each parameter.
    pub parameters: Vec<(String, u32)>,
}

#[derive(Clone, Debug)]
pub struct Profile {
    pub name: String,
    pub has_selector: bool,
    pub actions: Vec<String>,
}

/// A counter, meter or register.
#[derive(Clone, Debug)]
pub struct Array {
    pub name: String,
    /// The table of a direct one.
    pub table: Option<String>,
    pub rate_count: usize,
}

#[derive(Clone, Debug)]
pub struct ValueSet {
    pub name: String,
    pub width: u32,
}

/// A CRC whose parameters clients may change.
#[derive(Clone, Debug)]
pub struct CustomCrc {
    pub name: String,
    pub width: u32,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub tables: Vec<Table>,
    pub actions: Vec<Action>,
    pub profiles: Vec<Profile>,
    pub counters: Vec<Array>,
    pub meters: Vec<Array>,
    pub registers: Vec<Array>,
    pub value_sets: Vec<ValueSet>,
    pub custom_crcs: Vec<CustomCrc>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn width(value: &Value) -> u32 {
    value.as_u64().and_then(|width| u32::try_from(width).ok()).unwrap_or(0)
}

pub fn kind_name(kind: MatchType) -> &'static str {
    match kind {
        MatchType::Exact => "exact",
        MatchType::Lpm => "lpm",
        MatchType::Ternary => "ternary",
        MatchType::Valid => "valid",
        MatchType::Range => "range",
    }
}

fn kind_of(value: &Value) -> Result<MatchType, String> {
    match value.as_str().unwrap_or_default() {
        "exact" => Ok(MatchType::Exact),
        "lpm" => Ok(MatchType::Lpm),
        "ternary" => Ok(MatchType::Ternary),
        "valid" => Ok(MatchType::Valid),
        "range" => Ok(MatchType::Range),
        other => Err(format!("there is no match type `{other}`")),
    }
}

/// Tables have actions of their own, of the same names: a name is the last one's, as in BMv2's command line.
fn actions(described: &[Value]) -> Vec<Action> {
    let mut actions: Vec<Action> = Vec::new();
    for new in described.iter().map(action) {
        match actions.iter_mut().find(|known| known.name == new.name) {
            Some(known) => *known = new,
            None => actions.push(new),
        }
    }
    actions
}

impl Config {
    /// # Errors
    /// Text that is no JSON, or tables of a kind that there is not.
    pub fn read(json: &str) -> Result<Config, String> {
        let json: Value = crate::json::parse(json)?;
        let widths = field_widths(&json);
        let mut config = Config {
            actions: actions(list(&json["actions"])),
            counters: list(&json["counter_arrays"]).iter().map(array).collect(),
            meters: list(&json["meter_arrays"]).iter().map(array).collect(),
            registers: list(&json["register_arrays"]).iter().map(array).collect(),
            value_sets: list(&json["parse_vsets"])
                .iter()
                .map(|set| ValueSet { name: text(&set["name"]), width: width(&set["compressed_bitwidth"]) })
                .collect(),
            custom_crcs: list(&json["calculations"]).iter().filter_map(custom_crc).collect(),
            ..Config::default()
        };
        for pipeline in list(&json["pipelines"]) {
            config.profiles.extend(list(&pipeline["action_profiles"]).iter().map(|profile| Profile {
                name: text(&profile["name"]),
                has_selector: profile.get("selector").is_some(),
                actions: Vec::new(),
            }));
            for described in list(&pipeline["tables"]) {
                let table = table(described, &widths)?;
                let mut profiles = config.profiles.iter_mut();
                if let Some(profile) = profiles.find(|known| Some(&known.name) == table.profile.as_ref()) {
                    profile.actions.clone_from(&table.actions);
                }
                config.tables.push(table);
            }
        }
        Ok(config)
    }

    pub fn table(&self, name: &str) -> Outcome<&Table> {
        find("table", name, &self.tables, |table| &table.name)
    }

    pub fn profile(&self, name: &str) -> Outcome<&Profile> {
        find("action profile", name, &self.profiles, |profile| &profile.name)
    }

    pub fn counter(&self, name: &str) -> Outcome<&Array> {
        find("counter", name, &self.counters, |counter| &counter.name)
    }

    pub fn meter(&self, name: &str) -> Outcome<&Array> {
        find("meter", name, &self.meters, |meter| &meter.name)
    }

    pub fn register(&self, name: &str) -> Outcome<&Array> {
        find("register", name, &self.registers, |register| &register.name)
    }

    pub fn value_set(&self, name: &str) -> Outcome<&ValueSet> {
        find("parser value set", name, &self.value_sets, |set| &set.name)
    }

    /// The action of a table or profile, which has these.
    pub fn action(&self, name: &str, of: &[String]) -> Option<&Action> {
        let found = find("action", name, &self.actions, |action| &action.name).ok()?;
        of.contains(&found.name).then_some(found)
    }
}

/// The one of the objects that a word names: in full, or by its last parts.
fn find<'a, T>(what: &str, name: &str, objects: &'a [T], name_of: impl Fn(&T) -> &String + Copy) -> Outcome<&'a T> {
    let word = Word { text: name.to_string(), place: Place { line: 1, column: 1 } };
    match names::find(&word, what, objects.iter().map(|object| name_of(object).as_str())) {
        Ok(at) => Ok(&objects[at]),
        Err(_) => input(format!("Invalid {what} name ({name})")),
    }
}

/// Widths by header instance and field.
fn field_widths(json: &Value) -> BTreeMap<(String, String), u32> {
    let types: BTreeMap<String, &[Value]> =
        list(&json["header_types"]).iter().map(|kind| (text(&kind["name"]), list(&kind["fields"]))).collect();
    let instances = list(&json["headers"]).iter();
    let fields = instances.flat_map(|instance| {
        let fields = types.get(&text(&instance["header_type"])).copied().unwrap_or_default();
        fields.iter().map(|field| ((text(&instance["name"]), text(&field[0])), width(&field[1])))
    });
    fields.collect()
}

fn action(described: &Value) -> Action {
    let parameters = list(&described["runtime_data"]).iter();
    let parameters = parameters.map(|known| (text(&known["name"]), width(&known["bitwidth"])));
    Action { name: text(&described["name"]), parameters: parameters.collect() }
}

fn array(described: &Value) -> Array {
    let table = described["binding"].as_str().map(str::to_string);
    Array { name: text(&described["name"]), table, rate_count: width(&described["rate_count"]) as usize }
}

fn custom_crc(described: &Value) -> Option<CustomCrc> {
    let width = match described["algo"].as_str()? {
        "crc16_custom" => 16,
        "crc32_custom" => 32,
        _ => return None,
    };
    Some(CustomCrc { name: text(&described["name"]), width })
}

fn table(described: &Value, widths: &BTreeMap<(String, String), u32>) -> Result<Table, String> {
    let keys = list(&described["key"]).iter().map(|key| {
        let kind = kind_of(&key["match_type"])?;
        let target = &key["target"];
        let (header, field) = (text(&target[0]), text(&target[1]));
        let (name, width) = if kind == MatchType::Valid {
            (format!("{}_valid", text(target)), 1)
        } else if field == "$valid$" {
            (format!("{header}_valid"), 1)
        } else {
            let name = format!("{header}.{field}");
            (name, widths.get(&(header, field)).copied().unwrap_or(0))
        };
        Ok(Key { name, kind, width })
    });
    let table_type = match described["type"].as_str().unwrap_or_default() {
        "indirect" => TableType::Indirect,
        "indirect_ws" => TableType::WithSelector,
        _ => TableType::Simple,
    };
    Ok(Table {
        name: text(&described["name"]),
        kind: kind_of(&described["match_type"])?,
        table_type,
        has_timeouts: described["support_timeout"].as_bool().unwrap_or(false),
        actions: list(&described["actions"]).iter().map(text).collect(),
        keys: keys.collect::<Result<_, String>>()?,
        profile: described["action_profile"].as_str().map(str::to_string),
    })
}

impl Table {
    /// Whether entries end with a priority.
    pub fn has_priorities(&self) -> bool {
        matches!(self.kind, MatchType::Ternary | MatchType::Range)
    }

    /// As `show_tables` prints it.
    pub fn line(&self) -> String {
        let keys = self.keys.iter().map(|key| format!("{}({}, {})", key.name, kind_name(key.kind), key.width));
        let keys = keys.collect::<Vec<_>>().join(",\t");
        let profile = self.profile.as_deref().unwrap_or("None");
        format!("{:30} [implementation={profile}, mk={keys}]", self.name)
    }
}

impl Action {
    /// As `show_actions` prints it.
    pub fn line(&self) -> String {
        let parameters = self.parameters.iter().map(|(name, width)| format!("{name}({width})"));
        format!("{:30} [{}]", self.name, parameters.collect::<Vec<_>>().join(",\t"))
    }
}

impl From<Problem> for String {
    fn from(problem: Problem) -> String {
        problem.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_may_be_nested_deeply() {
        let text =
            |levels: usize| format!(r#"{{"actions": [], "parsers": {}{}}}"#, "[".repeat(levels), "]".repeat(levels));
        assert!(Config::read(&text(900)).is_ok());
        assert!(Config::read(&text(100_000)).is_err_and(|why| why.contains("deeper than 1000 levels")));
    }

    #[test]
    fn an_action_of_several_tables_is_one() {
        let action = |id: u32| {
            format!(r#"{{"name": "c.forward", "id": {id}, "runtime_data": [{{"name": "port", "bitwidth": 9}}]}}"#)
        };
        let json = format!(
            r#"{{"actions": [{}, {{"name": "NoAction", "id": 1, "runtime_data": []}}, {}]}}"#,
            action(0),
            action(2)
        );
        let config = Config::read(&json).expect("it is JSON");
        let names: Vec<&str> = config.actions.iter().map(|action| action.name.as_str()).collect();
        assert_eq!(names, ["c.forward", "NoAction"]);
    }
}
