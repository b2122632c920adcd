//! Paths of requests: which nodes of the tree they select, and how the paths of an answer are written.

use crate::interfaces::Interface;
use crate::message::{Path, PathElem};
use crate::tree::{Item, KEY, LEAVES, Leaf, ROOT, names};
use std::collections::BTreeMap;
use tonic::Status;

/// Any one element of a path, or any key.
const ANY: &str = "*";
/// Any number of elements.
const ANY_DEPTH: &str = "...";
/// The origin of OpenConfig's models; so is none.
const ORIGIN: &str = "openconfig";

#[derive(Clone, Debug)]
struct Elem {
    name: String,
    /// None: of every interface.
    interface: Option<String>,
}

/// A path, possibly with wildcards, that selects nodes and all below them.
#[derive(Clone, Debug)]
pub struct Pattern(Vec<Elem>);

impl Pattern {
    /// Of a path behind a prefix.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`: it is malformed. `UNIMPLEMENTED`: the tree has no such node.
    pub fn parse(prefix: Option<&Path>, path: Option<&Path>) -> Result<Pattern, Status> {
        let mut elems = Vec::new();
        for path in prefix.into_iter().chain(path) {
            check_form(path)?;
            elems.extend(path.elem.iter().map(elem).collect::<Result<Vec<_>, _>>()?);
        }
        let pattern = Pattern(elems);
        match LEAVES.iter().any(|leaf| pattern.depth(leaf, None).is_some()) {
            true => Ok(pattern),
            false => Err(Status::unimplemented(format!("the switch has no path {}", pattern.text()))),
        }
    }

    /// The levels from the root to the topmost selected node that the leaf is within; none if there is no such node.
    pub fn depth(&self, leaf: &Leaf, interface: Option<&str>) -> Option<usize> {
        let names = names(leaf);
        (0..=names.len()).find(|depth| matches(&self.0, &names[..*depth], interface))
    }

    /// The leaves that are selected.
    pub fn items<'i>(&self, interfaces: &'i [Interface]) -> Vec<Item<'i>> {
        let items = interfaces.iter().flat_map(|interface| LEAVES.iter().map(move |leaf| Item { interface, leaf }));
        items.filter(|item| self.depth(item.leaf, Some(&item.interface.name)).is_some()).collect()
    }

    /// Whether the pattern is for interfaces by name, and none of them is there.
    pub fn is_missing(&self, interfaces: &[Interface]) -> bool {
        self.0.iter().any(|elem| elem.interface.is_some()) && self.items(interfaces).is_empty()
    }

    /// Whether it selects one node, whatever interfaces there are.
    pub fn is_single(&self) -> bool {
        self.0.iter().enumerate().all(|(level, elem)| {
            elem.name != ANY && elem.name != ANY_DEPTH && (level + 1 != ROOT.len() || elem.interface.is_some())
        })
    }

    /// The interface's name, if there is just one.
    pub fn interface(&self) -> Option<&str> {
        self.0.get(ROOT.len() - 1)?.interface.as_deref()
    }

    /// The names of the nodes.
    pub fn names(&self) -> Vec<&str> {
        self.0.iter().map(|elem| elem.name.as_str()).collect()
    }

    pub fn text(&self) -> String {
        let key = |interface: &String| format!("[{KEY}={interface}]");
        let elem = |elem: &Elem| format!("/{}{}", elem.name, elem.interface.as_ref().map_or(String::new(), key));
        if self.0.is_empty() { "/".to_string() } else { self.0.iter().map(elem).collect() }
    }
}

fn check_form(path: &Path) -> Result<(), Status> {
    #[allow(deprecated)]
    let has_old_form = !path.element.is_empty();
    if has_old_form {
        return Err(Status::invalid_argument("the path has the deprecated field `element`: write `elem`"));
    }
    match path.origin.as_str() {
        "" | ORIGIN => Ok(()),
        origin => Err(Status::unimplemented(format!("paths of the origin `{origin}`; the switch has `{ORIGIN}`"))),
    }
}

fn elem(elem: &PathElem) -> Result<Elem, Status> {
    if elem.name.is_empty() {
        return Err(Status::invalid_argument("an element of the path has no name"));
    }
    // The names of models may precede those of their nodes.
    let name = elem.name.rsplit(':').next().unwrap_or_default();
    let mut keys = elem.key.iter();
    let (first, more) = (keys.next(), keys.next());
    let takes_key = name == ROOT[1] || name == ANY;
    match (first, more) {
        (None, _) => Ok(Elem { name: name.to_string(), interface: None }),
        (Some((key, value)), None) if takes_key && key == KEY => {
            let interface = (value != ANY).then(|| value.clone());
            Ok(Elem { name: name.to_string(), interface })
        }
        (Some((key, _)), _) => Err(Status::invalid_argument(format!(
            "`{}` has no key `{key}`: the key of `{}` is `{KEY}`",
            elem.name, ROOT[1]
        ))),
    }
}

/// Whether the pattern selects the node with these names, within the interface of this name or any.
fn matches(pattern: &[Elem], names: &[&str], interface: Option<&str>) -> bool {
    matches_from(pattern, names, 0, interface)
}

/// The same from a level of the tree on.
fn matches_from(pattern: &[Elem], names: &[&str], level: usize, interface: Option<&str>) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return level == names.len() };
    if first.name == ANY_DEPTH {
        return (level..=names.len()).any(|level| matches_from(rest, names, level, interface));
    }
    let Some(name) = names.get(level) else { return false };
    let has_name = first.name == ANY || first.name == *name;
    // Only the list has keys.
    let has_key = match &first.interface {
        None => true,
        Some(wanted) => level + 1 == ROOT.len() && interface.is_none_or(|interface| wanted == interface),
    };
    has_name && has_key && matches_from(rest, names, level + 1, interface)
}

/// How the paths of an answer are written: behind the prefix of the request, if that is the same for all.
pub struct Answer {
    prefix: Option<Path>,
    /// Elements that the prefix has.
    skipped: usize,
}

impl Answer {
    /// # Errors
    /// As [`Pattern::parse`].
    pub fn new(prefix: Option<&Path>) -> Result<Answer, Status> {
        let Some(prefix) = prefix else { return Ok(Answer { prefix: None, skipped: 0 }) };
        let pattern = Pattern::parse(None, Some(prefix))?;
        let elem = if pattern.is_single() { prefix.elem.clone() } else { Vec::new() };
        let skipped = elem.len();
        Ok(Answer { prefix: Some(Path { elem, ..prefix.clone() }), skipped })
    }

    pub fn prefix(&self) -> Option<Path> {
        self.prefix.clone()
    }

    /// The path of a node: so many levels from the root towards the leaf.
    pub fn path(&self, interface: &str, leaf: &[&str], depth: usize) -> Path {
        let elem = |(level, name): (usize, &&str)| {
            let is_list = level + 1 == ROOT.len();
            let key = is_list.then(|| (KEY.to_string(), interface.to_string()));
            PathElem { name: (*name).to_string(), key: BTreeMap::from_iter(key) }
        };
        let names = ROOT.iter().chain(leaf).take(depth).enumerate().skip(self.skipped);
        Path { elem: names.map(elem).collect(), ..Path::default() }
    }

    pub fn leaf(&self, interface: &str, leaf: &[&str]) -> Path {
        self.path(interface, leaf, ROOT.len() + leaf.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path as it is usually written.
    fn path(text: &str) -> Path {
        let elem = |text: &str| match text.split_once('[') {
            None => PathElem { name: text.to_string(), ..PathElem::default() },
            Some((name, key)) => {
                let (key, value) = key.trim_end_matches(']').split_once('=').expect("a key has a value");
                PathElem { name: name.to_string(), key: BTreeMap::from([(key.to_string(), value.to_string())]) }
            }
        };
        Path { elem: text.split('/').filter(|text| !text.is_empty()).map(elem).collect(), ..Path::default() }
    }

    fn selected(text: &str) -> Result<Vec<String>, tonic::Code> {
        let pattern = Pattern::parse(None, Some(&path(text))).map_err(|status| status.code())?;
        let depths = LEAVES.iter().filter_map(|leaf| {
            let depth = pattern.depth(leaf, Some("eth0"))?;
            Some(names(leaf)[..depth].join("/"))
        });
        let mut nodes: Vec<String> = depths.collect();
        nodes.dedup();
        Ok(nodes)
    }

    #[test]
    fn wildcards_select_nodes() {
        let of = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>());
        assert_eq!(selected(""), of(&[""]));
        assert_eq!(selected("interfaces"), of(&["interfaces"]));
        assert_eq!(selected("interfaces/interface/state/id"), of(&["interfaces/interface/state/id"]));
        let state = of(&["interfaces/interface/state"]);
        for text in ["interfaces/interface[name=eth0]/state", "interfaces/*[name=eth0]/state", "*/*/state", ".../state"]
        {
            assert_eq!(selected(text), state, "{text}");
        }
        let ids = of(&["interfaces/interface/config/id", "interfaces/interface/state/id"]);
        assert_eq!(selected("interfaces/.../id"), ids);
        assert_eq!(selected("interfaces/interface[name=*]/*/id"), ids);
        assert_eq!(selected("interfaces/interface[name=eth1]/state"), of(&[]));
    }

    #[test]
    fn malformed_paths_differ_from_unknown_ones() {
        for text in ["system", "interfaces/interface/state/mtu", "interfaces/interface/state/id/more", "*/*/*/*/*/*"] {
            assert_eq!(selected(text), Err(tonic::Code::Unimplemented), "{text}");
        }
        for text in ["interfaces/interface[index=1]", "interfaces/interface/state[name=eth0]", "interfaces[name=eth0]"]
        {
            assert_eq!(selected(text), Err(tonic::Code::InvalidArgument), "{text}");
        }
    }
}
