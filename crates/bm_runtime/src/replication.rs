//! The services `simple_pre`, `simple_pre_lag` and `simple_switch` of BMv2: multicast, mirroring, queues, time.

use crate::service::{Undeclared, service};
use crate::wire::{codes, message};

codes! {
    MulticastCode {
        Full = 1 "TABLE_FULL",
        InvalidGroup = 2 "INVALID_MGID",
        InvalidGroupHandle = 3 "INVALID_MGRP_HANDLE",
        InvalidNode = 4 "INVALID_L1_HANDLE",
        Error = 5 "ERROR",
    }
}

service! {
    /// Multicast groups of nodes. A map of ports is a text of `0` and `1`; port 0 is at its end.
    SimplePre, SimplePreClient, "simple_pre", {
        bm_mc_mgrp_create(1 cxt_id: i32, 2 mgrp: i32) -> i32, MulticastCode;
        bm_mc_mgrp_destroy(1 cxt_id: i32, 2 mgrp_handle: i32) -> (), MulticastCode;
        bm_mc_node_create(1 cxt_id: i32, 2 rid: i32, 3 port_map: String) -> i32, MulticastCode;
        bm_mc_node_associate(1 cxt_id: i32, 2 mgrp_handle: i32, 3 l1_handle: i32) -> (), MulticastCode;
        bm_mc_node_dissociate(1 cxt_id: i32, 2 mgrp_handle: i32, 3 l1_handle: i32) -> (), MulticastCode;
        bm_mc_node_destroy(1 cxt_id: i32, 2 l1_handle: i32) -> (), MulticastCode;
        bm_mc_node_update(1 cxt_id: i32, 2 l1_handle: i32, 3 port_map: String) -> (), MulticastCode;
        bm_mc_get_entries(1 cxt_id: i32) -> String, MulticastCode;
    }
}

service! {
    /// The same with link aggregation groups.
    SimplePreLag, SimplePreLagClient, "simple_pre_lag", {
        bm_mc_mgrp_create(1 cxt_id: i32, 2 mgrp: i32) -> i32, MulticastCode;
        bm_mc_mgrp_destroy(1 cxt_id: i32, 2 mgrp_handle: i32) -> (), MulticastCode;
        bm_mc_node_create(1 cxt_id: i32, 2 rid: i32, 3 port_map: String, 4 lag_map: String) -> i32, MulticastCode;
        bm_mc_node_associate(1 cxt_id: i32, 2 mgrp_handle: i32, 3 l1_handle: i32) -> (), MulticastCode;
        bm_mc_node_dissociate(1 cxt_id: i32, 2 mgrp_handle: i32, 3 l1_handle: i32) -> (), MulticastCode;
        bm_mc_node_destroy(1 cxt_id: i32, 2 l1_handle: i32) -> (), MulticastCode;
        bm_mc_node_update(1 cxt_id: i32, 2 l1_handle: i32, 3 port_map: String, 4 lag_map: String) -> (), MulticastCode;
        bm_mc_set_lag_membership(1 cxt_id: i32, 2 lag_index: i16, 3 port_map: String) -> (), MulticastCode;
        bm_mc_get_entries(1 cxt_id: i32) -> String, MulticastCode;
    }
}

message! {
    /// Where a mirroring session sends its copies: to a port, or to a multicast group.
    MirroringSession { 1 port: Option<i32>, 2 mgid: Option<i32>, }
}
codes! { MirroringCode { NotFound = 1 "SESSION_NOT_FOUND", } }

service! {
    /// What `simple_switch` has beside the other services. A queue's methods answer 0 for success.
    SimpleSwitch, SimpleSwitchClient, "simple_switch", {
        mirroring_mapping_add(1 mirror_id: i32, 2 egress_port: i32) -> i32, Undeclared;
        mirroring_mapping_delete(1 mirror_id: i32) -> i32, Undeclared;
        mirroring_mapping_get_egress_port(1 mirror_id: i32) -> i32, Undeclared;
        mirroring_session_add(1 mirror_id: i32, 2 config: MirroringSession) -> (), MirroringCode;
        mirroring_session_delete(1 mirror_id: i32) -> (), MirroringCode;
        mirroring_session_get(1 mirror_id: i32) -> MirroringSession, MirroringCode;
        set_egress_priority_queue_depth(1 port_num: i32, 2 priority: i32, 3 depth_pkts: i32) -> i32, Undeclared;
        set_egress_queue_depth(1 port_num: i32, 2 depth_pkts: i32) -> i32, Undeclared;
        set_all_egress_queue_depths(1 depth_pkts: i32) -> i32, Undeclared;
        set_egress_priority_queue_rate(1 port_num: i32, 2 priority: i32, 3 rate_pps: i64) -> i32, Undeclared;
        set_egress_queue_rate(1 port_num: i32, 2 rate_pps: i64) -> i32, Undeclared;
        set_all_egress_queue_rates(1 rate_pps: i64) -> i32, Undeclared;
        get_time_elapsed_us() -> i64, Undeclared;
        get_time_since_epoch_us() -> i64, Undeclared;
    }
}
