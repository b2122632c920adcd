//! Passes and the model as the driver uses them: what programs and plans they make, on which inputs.

mod constraints;
mod decided;
mod docs;
mod join;
mod joint;
mod lookups;
mod next_paths;
mod passes;
mod records;
mod specialise;
mod stages;
mod structures;
mod value_joins;
