//! Names of nodes, variables and headers: unique in the program, and the same whenever the same source is lowered.

use std::collections::HashMap;

/// Names already given, by kind of thing. A name requested again gets a number.
#[derive(Debug, Default)]
pub struct Names {
    nodes: HashMap<String, u32>,
    storage: HashMap<String, u32>,
    tables: HashMap<String, u32>,
    objects: HashMap<String, u32>,
    labels: HashMap<String, u32>,
}

fn unique(given: &mut HashMap<String, u32>, wanted: &str) -> String {
    if given.insert(wanted.to_string(), 1).is_none() {
        return wanted.to_string();
    }
    let mut number = 2;
    while given.contains_key(&format!("{wanted}_{number}")) {
        number += 1;
    }
    let name = format!("{wanted}_{number}");
    given.insert(name.clone(), 1);
    name
}

impl Names {
    pub fn node(&mut self, wanted: &str) -> String {
        unique(&mut self.nodes, wanted)
    }

    /// Of a variable or a header.
    pub fn storage(&mut self, wanted: &str) -> String {
        unique(&mut self.storage, wanted)
    }

    pub fn table(&mut self, wanted: &str) -> String {
        unique(&mut self.tables, wanted)
    }

    /// Of a counter, meter, register, digest, value set or profile.
    pub fn object(&mut self, wanted: &str) -> String {
        unique(&mut self.objects, wanted)
    }

    pub fn label(&mut self, wanted: &str) -> String {
        unique(&mut self.labels, wanted)
    }
}

/// The name that p4c gives to the calculation with this number.
pub fn calculation(number: usize) -> String {
    if number == 0 { "calc".to_string() } else { format!("calc_{}", number - 1) }
}
