//! What an explanation has: totals, assumptions, decisions, tables and nodes.

use super::expectations::Expected;
use super::tables::TableRow;
use crate::model::NodeCost;
use hlir::NodeId;
use hlir::plan::Reason;

/// Why a decision's cost differs from the prediction beside it
/// ([`with_shared_caches`](crate::inputs::Machine::with_shared_caches)), and packet_by_packet from the plain
/// program.
pub(super) const COSTS: &str = "Costs of decisions: a line costs the mean of its working set and of one twice as large, as if other cores used half of \
                     the caches half of the time. All other predictions are for the machine as measured.\n\
                     The cost of the hot path and its stages is from when they were chosen, without later decisions.\n\
                     The plain program runs packet by packet, with the default structure for the keys of each table; packet_by_packet has the \
                     structures of the plan.";
/// Why staging may be negative.
pub(super) const SAVED: &str = "Stages are predicted to save more cycles in the nodes than they cost themselves.";

/// Cycles that are shown as none.
pub(super) const NOTHING: f64 = 0.05;

/// What a decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The program as a whole.
    Plan,
    /// What workers share.
    State,
    /// The structure of one table.
    Structure,
    /// A lookup in a stage, or a prefetch.
    Stage,
    /// A join that is made, or would pay.
    Join,
    /// A pair of tables that is not joined.
    NotJoined,
}

/// A decision of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub group: Group,
    pub what: String,
    pub chosen: String,
    pub reason: Option<Reason>,
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRow {
    pub id: NodeId,
    pub name: String,
    pub kind: &'static str,
    /// Position in the source: `router.p4:41`.
    pub place: String,
    pub share: f64,
    pub predicted: NodeCost,
    /// Cycles per packet received, if measured.
    pub measured: Option<f64>,
    pub is_on_path: bool,
    /// Successors with their shares of packets.
    pub onward: Vec<(String, f64)>,
    /// Packets that leave the switch here.
    pub leaving: f64,
}

/// Cycles per packet in total.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Total {
    pub predicted: f64,
    pub measured: Option<f64>,
}

/// How many tables hold what is not counted, and what the prediction is without that.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Assumed {
    /// Tables whose entries are counted.
    pub counted: usize,
    /// Tables assumed to be as full as they are declared.
    pub full: usize,
    /// Tables assumed to be empty, since they declare no size.
    pub empty: usize,
    /// Cycles per packet if the full ones are empty, under the same plan.
    pub if_empty: Option<f64>,
}

/// A measurement: cycles per packet under the plan, and of the plain program.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub planned: f64,
    pub plain: f64,
    /// The breakdown of the cycles under the plan, if known.
    pub breakdown: Option<Breakdown>,
    pub how: String,
}

/// A breakdown of the cycles of a packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    pub floor: f64,
    pub staging: f64,
    /// By name. Missing nodes had no measurable cost.
    pub nodes: Vec<(String, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub program: String,
    pub machine: String,
    /// Whether shares are counted or estimated.
    pub traffic: &'static str,
    /// The cost of the port; and of stages beside their nodes, less what they save.
    pub floor: Total,
    pub staging: Total,
    pub latency_ns: f64,
    pub planned: Total,
    pub plain: Total,
    /// The origin of the numbers, in sentences.
    pub notes: Vec<String>,
    pub decisions: Vec<Decision>,
    pub assumed: Assumed,
    pub expectations: Vec<Expected>,
    /// The most expensive tables come first.
    pub tables: Vec<TableRow>,
    pub nodes: Vec<NodeRow>,
    /// The plan as in a plan file.
    pub plan: String,
}

impl NodeRow {
    /// Measured cycles, else predicted ones.
    pub fn cycles(&self) -> f64 {
        self.measured.unwrap_or_else(|| self.predicted.cycles())
    }
}

impl Explanation {
    /// The nodes, the most expensive ones first.
    pub fn by_cost(&self) -> Vec<&NodeRow> {
        let mut nodes: Vec<&NodeRow> = self.nodes.iter().collect();
        nodes.sort_by(|one, other| other.cycles().total_cmp(&one.cycles()));
        nodes
    }

    /// What the prediction takes for granted, in sentences.
    pub fn assumptions(&self) -> Vec<String> {
        let Assumed { counted, full, empty, if_empty } = self.assumed;
        let mut lines = vec![match self.traffic {
            "counted" => "traffic is as counted".to_string(),
            _ => "traffic is estimated; with --profile or --measure it is counted".to_string(),
        }];
        let mut entries = Vec::new();
        let tables = |count: usize| if count == 1 { "1 table".to_string() } else { format!("{count} tables") };
        for (count, what) in [(counted, "counted"), (full, "as many as declared"), (empty, "none, no size is declared")]
        {
            if count > 0 {
                entries.push(format!("{} {what}", tables(count)));
            }
        }
        if !entries.is_empty() {
            let way = if full + empty > 0 { "; --entries counts them" } else { "" };
            lines.push(format!("entries: {}{way}", entries.join(", ")));
        }
        if let Some(cycles) = if_empty {
            lines.push(format!("with no entries where the number is not counted: {cycles:.1} cycles under this plan"));
        }
        lines
    }

    /// Adds a measurement.
    pub fn measured(&mut self, measured: &Measured) {
        self.planned.measured = Some(measured.planned);
        self.plain.measured = Some(measured.plain);
        self.notes.push(measured.how.clone());
        let Some(breakdown) = &measured.breakdown else { return };
        self.floor.measured = Some(breakdown.floor);
        self.staging.measured = Some(breakdown.staging);
        for row in &mut self.nodes {
            let found = breakdown.nodes.iter().find(|(name, _)| *name == row.name);
            row.measured = Some(found.map_or(0.0, |(_, cycles)| *cycles));
        }
    }
}
