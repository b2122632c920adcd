//! The kinds of access to a cache line that `bacus calibrate` measures.

/// How a cache line is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    Load,
    Gather,
    PrefetchT0,
    PrefetchT1,
    /// A group: all lines are prefetched before the first of them is read.
    GroupT0,
    GroupT1,
    /// A stream of prefetches with a packet's work between its lines.
    BusyT0,
    BusyT1,
}

impl Access {
    pub const ALL: [Access; 8] = [
        Access::Load,
        Access::Gather,
        Access::PrefetchT0,
        Access::PrefetchT1,
        Access::GroupT0,
        Access::GroupT1,
        Access::BusyT0,
        Access::BusyT1,
    ];

    /// Whether lines are prefetched one by one between other work (throughput), rather than a group at a time
    /// (latency).
    pub const fn is_stream(self) -> bool {
        match self {
            Access::PrefetchT0 | Access::PrefetchT1 | Access::BusyT0 | Access::BusyT1 => true,
            Access::Load | Access::Gather | Access::GroupT0 | Access::GroupT1 => false,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Access::Load => "load",
            Access::Gather => "gather",
            Access::PrefetchT0 => "prefetch T0",
            Access::PrefetchT1 => "prefetch T1",
            Access::GroupT0 => "group T0",
            Access::GroupT1 => "group T1",
            Access::BusyT0 => "busy T0",
            Access::BusyT1 => "busy T1",
        }
    }
}
