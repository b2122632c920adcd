//! The cases of the experiments that have a figure, most of them papers': applications and the numbers of entries, for a whole run and for a quick one.

use crate::mix::Mix;
use crate::purpose::Experiment;

/// An application's part in an experiment.
pub struct Planned {
    pub experiment: Experiment,
    pub application: &'static str,
    pub sizes: &'static [u64],
    pub quick: &'static [u64],
}

const fn case(
    experiment: Experiment,
    application: &'static str,
    sizes: &'static [u64],
    quick: &'static [u64],
) -> Planned {
    Planned { experiment, application, sizes, quick }
}

use Experiment::{
    Ablation, Accesses, BatchSize, Cores, Forwarders, Gains, GainsModel, Join, JoinSweep, Metadata, Paths, Peers,
    Predicted, Trie,
};

#[rustfmt::skip]
pub const ALL: &[Planned] = &[
    // COP, figure 2. The size of l2fwd_crypto is the bytes of a frame.
    case(Gains,      "l2fwd",        &[1 << 24],                            &[1 << 18]),
    case(Gains,      "ipv4fwd",      &[606_138],                            &[100_000]),
    case(Gains,      "ipv6fwd",      &[200_000],                            &[50_000]),
    case(Gains,      "ndn",          &[10_000_000],                         &[1 << 17]),
    case(Gains,      "l2l3acl",      &[1 << 20],                            &[65_536]),
    case(Gains,      "l2fwd_crypto", &[64],                                 &[64]),
    // Model, figures 2 and 3.
    case(GainsModel, "l2fwd",        &[1 << 24],                            &[1 << 18]),
    case(GainsModel, "ipv4fwd",      &[606_138],                            &[100_000]),
    case(GainsModel, "ipv6fwd",      &[200_000],                            &[50_000]),
    case(GainsModel, "ndn",          &[10_000_000],                         &[1 << 17]),
    // COP, table 1.
    case(Join,       "l2l3acl",      &[4, 16_384, 1 << 20],                 &[4, 16_384]),
    // P4+BACUS, figure 13.
    case(JoinSweep,  "l2fwd",        &[16, 32, 64, 128, 256, 512, 1024, 4096, 65_536, 1 << 20, 1 << 22],
                                                                            &[16, 128, 1024, 4096]),
    // P4+BACUS, figures 14 and 15: small tables, then large ones.
    case(Ablation,   "l2fwd",        &[256, 1 << 24],                       &[256, 1 << 18]),
    case(Ablation,   "ipv6fwd",      &[1_000, 200_000],                     &[50_000]),
    case(Ablation,   "l2l3acl",      &[4, 1 << 20],                         &[4, 65_536]),
    case(Ablation,   "chatserver",   &[256, 1 << 20],                       &[256]),
    case(Ablation,   "mpls",         &[256],                                &[256]),
    // P4+BACUS, figure 1, and Model, figure 3.
    case(Peers,      "l2fwd",        &[256, 1 << 24],                       &[1 << 18]),
    case(Peers,      "ipv4fwd",      &[1_000, 606_138],                     &[100_000]),
    case(Peers,      "ipv6fwd",      &[200_000],                            &[50_000]),
    case(Peers,      "l2l3acl",      &[65_536, 1 << 20],                    &[65_536]),
    case(Peers,      "ndn",          &[10_000_000],                         &[1 << 17]),
    case(Peers,      "nat",          &[1 << 20],                            &[65_536]),
    case(Peers,      "router",       &[606_138],                            &[1_000]),
    // Routers that are programs of their own, with one route.
    case(Forwarders, "ipv4fwd",      &[1],                                  &[1]),
    // Model, figure 5.
    case(BatchSize,  "l2fwd",        &[2_048, 16_384, 1 << 20, 1 << 24],    &[2_048, 1 << 18]),
    // PacketMill, section 4.
    case(Metadata,   "forwarder",    &[1],                                  &[1]),
    case(Metadata,   "router",       &[4, 606_138],                         &[4, 1_000]),
    // Optimizing Packet Accesses, table 2.
    case(Accesses,   "l3switch",     &[1_000],                              &[1_000]),
    case(Accesses,   "mpls_npf",     &[256],                                &[256]),
    case(Accesses,   "firewall",     &[100],                                &[100]),
    // Beside the paper's: programs that change more headers.
    case(Accesses,   "mpls",         &[256],                                &[256]),
    case(Accesses,   "router",       &[1_000],                              &[1_000]),
    case(Accesses,   "nat",          &[1_000],                              &[1_000]),
    case(Accesses,   "l2l3acl",      &[65_536],                             &[65_536]),
    // Model, 4.6: prefixes of 48 bits, of which none, half and all have paths that can be compressed.
    case(Trie(0),    "ipv6fwd",      &[20_000],                             &[20_000]),
    case(Trie(50),   "ipv6fwd",      &[20_000],                             &[20_000]),
    case(Trie(100),  "ipv6fwd",      &[20_000],                             &[20_000]),
    // Model, figure 4.
    case(Cores,      "l2fwd",        &[1 << 20],                            &[65_536]),
    case(Cores,      "ipv4fwd",      &[606_138],                            &[1_000]),
    case(Cores,      "ipv6fwd",      &[200_000],                            &[20_000]),
    case(Cores,      "ndn",          &[1 << 20],                            &[65_536]),
    case(Cores,      "nat",          &[65_536],                             &[1_000]),
    // Of no paper: traffic of one family, then of several.
    case(Paths(Mix::of(100, 0)), "dualstack", &[20_000],                    &[1_000]),
    case(Paths(Mix::of(90, 10)), "dualstack", &[20_000],                    &[1_000]),
    case(Paths(Mix::of(70, 25)), "dualstack", &[20_000],                    &[1_000]),
    case(Paths(Mix::of(50, 45)), "dualstack", &[20_000],                    &[1_000]),
    // Model, section 3: every application.
    case(Predicted,  "l2fwd",        &[256, 65_536, 1 << 20],               &[256, 1 << 18]),
    case(Predicted,  "ipv4fwd",      &[4, 100_000, 606_138],                &[100_000]),
    case(Predicted,  "ipv6fwd",      &[1_000, 200_000],                     &[50_000]),
    case(Predicted,  "l2l3acl",      &[65_536, 1 << 20],                    &[65_536]),
    case(Predicted,  "dualstack",    &[20_000],                             &[1_000]),
    case(Predicted,  "mpls",         &[256],                                &[256]),
    case(Predicted,  "mpls_npf",     &[256, 65_536],                        &[256]),
    case(Predicted,  "firewall",     &[100, 1_000],                         &[100]),
    case(Predicted,  "ndn",          &[1_000, 1 << 20],                     &[1_000]),
    case(Predicted,  "l3switch",     &[1_000, 100_000],                     &[1_000]),
    case(Predicted,  "router",       &[1_000, 606_138],                     &[1_000]),
    case(Predicted,  "ids_router",   &[1_000],                              &[1_000]),
    case(Predicted,  "forwarder",    &[1],                                  &[1]),
    case(Predicted,  "chatserver",   &[256],                                &[256]),
    case(Predicted,  "nat",          &[1_000, 1 << 20],                     &[1_000]),
    case(Predicted,  "workpackage",  &[1],                                  &[1]),
];
