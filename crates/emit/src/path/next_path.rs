//! Further hot paths. Packets of a group that leave the path before become a burst of their own, which goes through the
//! stages of the next path. Those that commit there are put back into their group, and are sent with it in order of
//! arrival; the others go to the path after it, and at last to the plain program.
//!
//! The functions of a next path are those of any path, under names of its own (`renamed.rs`).

use super::commit::popcount;
use super::renamed::Renaming;
use super::{HotPath, inline, name, noinline};
use crate::c::{Expr, Item, Stmt};
use crate::run::{run_copy, run_taken};

/// The first next path is the second one.
const FIRST: usize = 2;

impl HotPath<'_> {
    /// Whether packets that leave the path have another one.
    pub fn has_next(&self) -> bool {
        !self.next.is_empty()
    }

    pub(super) fn next_storage(&self) -> Vec<Item> {
        self.of_each_next(|path| path.struct_path().into())
    }

    pub(super) fn next_items(&self) -> Vec<Item> {
        self.of_each_next(|path| path.items_of_next())
    }

    /// In `path_commit`: side exits of a group take the next paths, one after the other. Returns the set of those that
    /// are left.
    pub(super) fn take_next(&self, left: &str, code: &mut Vec<Stmt>) -> Expr {
        if !self.has_next() {
            return name(left);
        }
        code.push(Stmt::declare("uint64_t", "leaving", name(left)));
        for number in FIRST..FIRST + self.next.len() {
            let group = ["&copy", "&taken", "from", "leaving", "ports", "&gone"].map(name);
            let taken = Stmt::set(name("leaving"), Expr::call(format!("path_{number}_picked"), group));
            code.push(match number {
                FIRST => taken,
                // The paths before it may have left none.
                _ => Stmt::when(Expr::binary("!=", name("leaving"), Expr::long(0)), vec![taken]),
            });
        }
        name("leaving")
    }

    /// Items of each next path, renamed: all define the names that a path has.
    fn of_each_next(&self, items: impl Fn(&HotPath) -> Vec<Item>) -> Vec<Item> {
        let each = self.next.iter().zip(FIRST..);
        each.flat_map(|(path, number)| {
            let mut made = items(path);
            // What becomes of a packet at commit is the same for all paths.
            made.retain(|item| !matches!(item, Item::Enum { .. }));
            let mut defined = path.struct_path().to_vec();
            defined.extend(made.iter().cloned());
            Renaming::new(number, &defined).apply(&mut made);
            made
        })
        .collect()
    }

    fn items_of_next(&self) -> Vec<Item> {
        let mut items = self.scheduled_items();
        items.extend(self.finish.clone());
        (0..self.plan.stages.len()).for_each(|number| items.extend(self.stage(number)));
        items.extend(self.missed());
        items.extend(self.runs_expected());
        items.extend(self.commit_some());
        items.extend(self.commit_picked());
        items.extend(self.picked());
        items
    }

    /// Commits the picked packets that stay on the path: misses, then hits.
    fn commit_picked(&self) -> Vec<Item> {
        let some = |set: Expr, hits: bool, expected: bool| {
            let arguments = [name("run"), name("burst"), Expr::word(0), name("path"), set, name("ports")];
            let commits = Expr::call("path_commit_some", arguments.into_iter().chain(self.known(hits, expected)));
            Stmt::Assign(name("gone"), "|=", commits)
        };
        let missed = Expr::binary("&", name("set"), Expr::call("path_missed", [name("path")]));
        let hit = || Expr::binary("&", name("set"), Expr::unary("~", name("missed")));
        let mut code = vec![
            Stmt::declare("const uint64_t", "missed", missed),
            Stmt::declare("uint64_t", "gone", Expr::long(0)),
            Stmt::Blank,
            some(name("missed"), false, false),
        ];
        code.extend(self.as_expected("run", |expected| some(hit(), true, expected)));
        code.extend(self.count_look_ups(&popcount(name("set"))));
        code.push(Stmt::result(name("gone")));
        let parameters =
            |run| [run, "const struct burst *burst", "struct path *path", "uint64_t set", "uint16_t *ports"];
        let about = "Commits the packets of the set. Returns which of them are dropped.";
        let mut items = vec![Item::Comment(about.to_string())];
        items.extend(inline("uint64_t", "path_commit_picked", &parameters("struct run *run"), code));
        items.extend(self.commit_picked_whole(&parameters("struct run *given")));
        items
    }

    /// The same as a function of its own.
    fn commit_picked_whole(&self, parameters: &[&str]) -> [Item; 2] {
        let [run, blank, filled] = run_taken("run", "given");
        let taken = Stmt::declare("const struct burst", "taken", name("*burst"));
        let gone = Stmt::Declare { of: "uint64_t".to_string(), name: "gone".to_string(), value: None };
        let mut code = vec![run, taken, gone, blank, filled];
        for table in self.found_before(self.plan.stages.len()) {
            let held = self.unit.table_name(table);
            code.push(Stmt::set(name(format!("run.{held}_records")), self.unit.records_in(table, "run.")));
        }
        let commit = Expr::call("path_commit_picked", ["&run", "&taken", "path", "set", "ports"].map(name));
        code.extend([Stmt::set(name("gone"), commit), run_copy("given", "&run"), Stmt::result(name("gone"))]);
        noinline("uint64_t", "path_commit_picked_group", parameters, code)
    }

    /// The path for those packets of a group that left the path before.
    fn picked(&self) -> Vec<Item> {
        let group = || ["run", "&burst", "0", "count", "&path"].map(name);
        let mut code = vec![
            Stmt::Declare { of: "struct picked".to_string(), name: "picked".to_string(), value: None },
            Stmt::declare(
                "const struct burst",
                "burst",
                Expr::call("picked_take", ["&picked", "whole", "from", "set"].map(name)),
            ),
            Stmt::declare("const uint32_t", "count", name("burst.count")),
            Stmt::Declare { of: "struct path".to_string(), name: "path".to_string(), value: None },
            Stmt::Declare { of: "uint16_t".to_string(), name: format!("to[{}]", self.plan.group), value: None },
            Stmt::declare("uint64_t", "staying", Expr::long(0)),
            Stmt::declare("uint64_t", "dropped", Expr::long(0)),
            Stmt::Blank,
            Stmt::set(name("path.exits"), Expr::word(0)),
        ];
        for number in 0..self.plan.stages.len() {
            code.push(Stmt::call(format!("path_stage_{number}_group"), group()));
            code.extend(self.look_up_call(number, "&path"));
        }
        let first = Expr::call("walk_first", [name("count")]);
        let set = ["&picked", "whole", "from", "staying", "to", "ports"].map(name);
        let places = |set: &str| Expr::call("picked_places", ["&picked", set].map(name));
        let stay = Expr::binary("&", name("*gone"), Expr::unary("~", places("staying")));
        code.extend([
            Stmt::set(name("staying"), Expr::binary("&", Expr::unary("~", name("path.exits")), first)),
            Stmt::set(
                name("dropped"),
                Expr::call("path_commit_picked_group", ["run", "&burst", "&path", "staying", "to"].map(name)),
            ),
            Stmt::call("picked_put", set),
            Stmt::set(name("*gone"), Expr::binary("|", stay, places("dropped"))),
            Stmt::result(places("path.exits")),
        ]);
        let parameters = [
            "struct run *run",
            "const struct burst *whole",
            "uint32_t from",
            "uint64_t set",
            "uint16_t *ports",
            "uint64_t *gone",
        ];
        let about = "This path for a set of a group, whose packets are in `gone`. Returns those that leave it, too.";
        let mut items = vec![Item::Comment(about.to_string())];
        items.extend(noinline("uint64_t", "path_picked", &parameters, code));
        items
    }
}
