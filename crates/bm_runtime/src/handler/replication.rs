//! The services `simple_pre`, `simple_pre_lag` and `simple_switch`.

use crate::device::Device;
use crate::replication::{MirroringCode, MirroringSession, MulticastCode, SimplePre, SimplePreLag, SimpleSwitch};
use crate::service::{Fault, Undeclared};
use std::time::{SystemTime, UNIX_EPOCH};

type Answer<T> = Result<T, Fault<MulticastCode>>;

/// BMv2's answer where it cannot set a queue.
const NOT_DONE: i32 = 1;

const NONE: MulticastCode = MulticastCode::Error;

impl SimplePre for Device {
    fn bm_mc_mgrp_create(&self, _: i32, group: i32) -> Answer<i32> {
        self.work(NONE, |work| work.create_multicast(group))
    }

    fn bm_mc_mgrp_destroy(&self, _: i32, group: i32) -> Answer<()> {
        self.work(NONE, |work| work.destroy_multicast(group))
    }

    fn bm_mc_node_create(&self, _: i32, rid: i32, ports: String) -> Answer<i32> {
        self.work(NONE, |work| work.create_node(rid, &ports, ""))
    }

    fn bm_mc_node_associate(&self, _: i32, group: i32, node: i32) -> Answer<()> {
        self.work(NONE, |work| work.associate(group, node))
    }

    fn bm_mc_node_dissociate(&self, _: i32, group: i32, node: i32) -> Answer<()> {
        self.work(NONE, |work| work.dissociate(group, node))
    }

    fn bm_mc_node_destroy(&self, _: i32, node: i32) -> Answer<()> {
        self.work(NONE, |work| work.destroy_node(node))
    }

    fn bm_mc_node_update(&self, _: i32, node: i32, ports: String) -> Answer<()> {
        self.work(NONE, |work| work.update_node(node, &ports, ""))
    }

    fn bm_mc_get_entries(&self, _: i32) -> Answer<String> {
        self.work(NONE, |work| Ok(work.multicast_entries()))
    }
}

impl SimplePreLag for Device {
    fn bm_mc_mgrp_create(&self, context: i32, group: i32) -> Answer<i32> {
        SimplePre::bm_mc_mgrp_create(self, context, group)
    }

    fn bm_mc_mgrp_destroy(&self, context: i32, group: i32) -> Answer<()> {
        SimplePre::bm_mc_mgrp_destroy(self, context, group)
    }

    fn bm_mc_node_create(&self, _: i32, rid: i32, ports: String, lags: String) -> Answer<i32> {
        self.work(NONE, |work| work.create_node(rid, &ports, &lags))
    }

    fn bm_mc_node_associate(&self, context: i32, group: i32, node: i32) -> Answer<()> {
        SimplePre::bm_mc_node_associate(self, context, group, node)
    }

    fn bm_mc_node_dissociate(&self, context: i32, group: i32, node: i32) -> Answer<()> {
        SimplePre::bm_mc_node_dissociate(self, context, group, node)
    }

    fn bm_mc_node_destroy(&self, context: i32, node: i32) -> Answer<()> {
        SimplePre::bm_mc_node_destroy(self, context, node)
    }

    fn bm_mc_node_update(&self, _: i32, node: i32, ports: String, lags: String) -> Answer<()> {
        self.work(NONE, |work| work.update_node(node, &ports, &lags))
    }

    fn bm_mc_set_lag_membership(&self, _: i32, lag: i16, ports: String) -> Answer<()> {
        self.work(NONE, |work| work.set_lag(lag, &ports))
    }

    fn bm_mc_get_entries(&self, context: i32) -> Answer<String> {
        SimplePre::bm_mc_get_entries(self, context)
    }
}

impl Device {
    /// Queues are those of the devices: clients get the code of a failure.
    fn no_queue(&self) -> Result<i32, Fault<Undeclared>> {
        (self.settings.log)(
            "the egress queues are those of the devices: neither their depths nor their rates can be set",
        );
        Ok(NOT_DONE)
    }
}

/// Mappings of mirroring are answered by 1 where it is done, and by 0 where it is not, as in BMv2; queues the other way round.
impl SimpleSwitch for Device {
    fn mirroring_mapping_add(&self, session: i32, port: i32) -> Result<i32, Fault<Undeclared>> {
        let config = MirroringSession { port: Some(port), mgid: None };
        let added = self.mirroring_session_add(session, config);
        Ok(i32::from(added.is_ok()))
    }

    fn mirroring_mapping_delete(&self, session: i32) -> Result<i32, Fault<Undeclared>> {
        let deleted = self.mirroring_session_delete(session);
        Ok(i32::from(deleted.is_ok()))
    }

    fn mirroring_mapping_get_egress_port(&self, session: i32) -> Result<i32, Fault<Undeclared>> {
        Ok(self.mirroring_session_get(session).ok().and_then(|config| config.port).unwrap_or(-1))
    }

    fn mirroring_session_add(&self, session: i32, config: MirroringSession) -> Result<(), Fault<MirroringCode>> {
        self.work(MirroringCode::NotFound, |work| {
            work.set_mirroring(session, &config).map_err(|refusal| Fault::Sentence(refusal.sentence))
        })
    }

    fn mirroring_session_delete(&self, session: i32) -> Result<(), Fault<MirroringCode>> {
        self.work(MirroringCode::NotFound, |work| match work.delete_mirroring(session) {
            Ok(true) => Ok(()),
            Ok(false) => Err(MirroringCode::NotFound.into()),
            Err(refusal) => Err(Fault::Sentence(refusal.sentence)),
        })
    }

    fn mirroring_session_get(&self, session: i32) -> Result<MirroringSession, Fault<MirroringCode>> {
        self.work(MirroringCode::NotFound, |work| work.mirroring(session))
    }

    fn set_egress_priority_queue_depth(&self, _: i32, _: i32, _: i32) -> Result<i32, Fault<Undeclared>> {
        self.no_queue()
    }

    fn set_egress_queue_depth(&self, _: i32, _: i32) -> Result<i32, Fault<Undeclared>> {
        self.no_queue()
    }

    fn set_all_egress_queue_depths(&self, _: i32) -> Result<i32, Fault<Undeclared>> {
        self.no_queue()
    }

    fn set_egress_priority_queue_rate(&self, _: i32, _: i32, _: i64) -> Result<i32, Fault<Undeclared>> {
        self.no_queue()
    }

    fn set_egress_queue_rate(&self, _: i32, _: i64) -> Result<i32, Fault<Undeclared>> {
        self.no_queue()
    }

    fn set_all_egress_queue_rates(&self, _: i64) -> Result<i32, Fault<Undeclared>> {
        self.no_queue()
    }

    fn get_time_elapsed_us(&self) -> Result<i64, Fault<Undeclared>> {
        Ok(i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX))
    }

    fn get_time_since_epoch_us(&self) -> Result<i64, Fault<Undeclared>> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}
