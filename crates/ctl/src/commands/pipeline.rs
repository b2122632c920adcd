//! The running program, and another in its place.

use super::input::Input;
use super::{Session, no_pipeline};
use crate::failure::Failure;
use crate::output::{Cell, Report};
use control::message::runtime::set_forwarding_pipeline_config_request::Action;

impl Session {
    pub fn pipeline(&mut self, input: &mut Input) -> Result<(), Failure> {
        let verb = input.one_of(&["show", "push"]).ok_or_else(|| input.expected("`show` or `push`"))?;
        if verb.text == "show" {
            input.finish()?;
            return self.show_pipeline();
        }
        let program = input.word().ok_or_else(|| input.expected("a program"))?;
        let action = match input.one_of(&["keep"]) {
            Some(_) => Action::ReconcileAndCommit,
            None => Action::VerifyAndCommit,
        };
        input.finish()?;
        let config = (self.compile)(&program.text)?;
        self.names = None;
        self.client.set_config(config, action)
    }

    fn show_pipeline(&mut self) -> Result<(), Failure> {
        let config = self.client.config()?.ok_or_else(no_pipeline)?;
        let info = config.p4info.unwrap_or_default();
        let package = info.pkg_info.clone().unwrap_or_default();
        let counts: [(&str, usize); 10] = [
            ("tables", info.tables.len()),
            ("actions", info.actions.len()),
            ("action profiles", info.action_profiles.len()),
            ("counters", info.counters.len() + info.direct_counters.len()),
            ("meters", info.meters.len() + info.direct_meters.len()),
            ("registers", info.registers.len()),
            ("value sets", info.value_sets.len()),
            ("digests", info.digests.len()),
            ("packet headers", info.controller_packet_metadata.len()),
            ("config bytes", config.p4_device_config.len()),
        ];
        let mut report = Report::new(&["pipeline", "value"]);
        let filled = |text: &str| if text.is_empty() { Cell::Empty } else { Cell::from(text) };
        report.row(vec!["device".into(), self.client.device.into()]);
        report.row(vec!["name".into(), filled(&package.name)]);
        report.row(vec!["architecture".into(), filled(&package.arch)]);
        report.row(vec!["cookie".into(), config.cookie.map(|cookie| format!("{:#x}", cookie.cookie)).into()]);
        counts.iter().for_each(|(what, count)| report.row(vec![(*what).into(), (*count as u64).into()]));
        report.rows.retain(|row| row[1] != Cell::Empty);
        self.print(&report);
        Ok(())
    }
}
