//! The words of choices, as reasons name them: `list`, `own_loop`, `group_32`, `with_NODE`.

use super::words::{DESCRIPTORS, INTERLEAVED, PLACEMENTS, STRUCTURES, Words, word_of};
use crate::plan::Choice;

/// Choices without a part of their own.
const SINGLE: Words<Choice> = &[
    (Choice::PacketByPacket, "packet_by_packet"),
    (Choice::Unstaged, "unstaged"),
    (Choice::Stage, "stage"),
    (Choice::Scalar, "scalar"),
    (Choice::NoPrefetch, "none"),
    (Choice::Spread, "spread"),
    (Choice::Separate, "separate"),
    (Choice::JointTable, "joint_table"),
    (Choice::ByValue, "by_value"),
    (Choice::Unspecialised, "unspecialised"),
];

/// What choices with a number or a name begin with.
const BURST: &str = "burst_";
const GROUP: &str = "group_";
const VECTOR: &str = "vector_";
const WITH: &str = "with_";

/// The word that plans have for a choice.
pub fn written_choice(choice: &Choice) -> String {
    match choice {
        Choice::Structure(structure) => word_of(STRUCTURES, structure).unwrap_or_default().to_string(),
        Choice::Descriptor(descriptor) => word_of(DESCRIPTORS, descriptor).unwrap_or_default().to_string(),
        Choice::Placement(placement) => super::written_placement(*placement).to_string(),
        Choice::Burst(packets) => format!("{BURST}{packets}"),
        Choice::Group(packets) => format!("{GROUP}{packets}"),
        Choice::Vector(packets) => format!("{VECTOR}{packets}"),
        Choice::WithStage(node) => format!("{WITH}{node}"),
        Choice::PacketByPacket
        | Choice::Unstaged
        | Choice::Stage
        | Choice::Scalar
        | Choice::NoPrefetch
        | Choice::Spread
        | Choice::Separate
        | Choice::JointTable
        | Choice::ByValue
        | Choice::Unspecialised => word_of(SINGLE, choice).unwrap_or_default().to_string(),
    }
}

/// The choice that a word names.
pub(super) fn choice(word: &str) -> Option<Choice> {
    let number = |prefix: &str| word.strip_prefix(prefix)?.parse().ok();
    known(SINGLE, word)
        .or_else(|| known(STRUCTURES, word).map(Choice::Structure))
        .or_else(|| known(DESCRIPTORS, word).map(Choice::Descriptor))
        .or_else(|| known(PLACEMENTS, word).or_else(|| known(INTERLEAVED, word)).map(Choice::Placement))
        .or_else(|| number(BURST).map(Choice::Burst))
        .or_else(|| number(GROUP).map(Choice::Group))
        .or_else(|| number(VECTOR).map(Choice::Vector))
        .or_else(|| word.strip_prefix(WITH).map(|node| Choice::WithStage(node.to_string())))
}

fn known<T: Clone>(words: Words<T>, word: &str) -> Option<T> {
    words.iter().find(|(_, known)| *known == word).map(|(value, _)| value.clone())
}
