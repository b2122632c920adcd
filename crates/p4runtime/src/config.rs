//! The pipeline that controllers set and read.

use crate::device::{Device, Pipeline, lock, no_pipeline};
use crate::election::role_name;
use crate::failure::{Failure, Outcome};
use crate::info::check_info;
use crate::saved::Saved;
use crate::schema::Schema;
use crate::settings::NoConfig;
use crate::target::{Prepared, State, follow_link};
use crate::write::Writer;
use control::message::runtime::{
    ForwardingPipelineConfig, GetForwardingPipelineConfigRequest, SetForwardingPipelineConfigRequest, Update,
    get_forwarding_pipeline_config_request::ResponseType, set_forwarding_pipeline_config_request::Action,
    write_request::Atomicity,
};
use control::plane::{BackedReplica, SessionTarget};
use control::{Refusal, Store};
use std::sync::Arc;
use tonic::Code;

impl Device {
    pub fn set_config(&self, request: SetForwardingPipelineConfigRequest) -> Outcome {
        {
            let elections = self.elections();
            elections.check_device(request.device_id)?;
            let role = role_name(&request.role, request.role_id);
            elections.check_primary(&role, request.election_id.as_ref())?;
        }
        let _one_at_a_time = lock(&self.configuring);
        let action = Action::try_from(request.action).unwrap_or(Action::Unspecified);
        if action == Action::Unspecified {
            return Err(Failure::invalid("the action is not set"));
        }
        if action == Action::Commit {
            return self.commit_saved(request.config.is_some());
        }
        let config = request.config.ok_or_else(|| Failure::invalid("the config is not set"))?;
        let prepared = self.verify(&config)?;
        match action {
            Action::VerifyAndSave => *lock(&self.saved) = Some(Saved::new(prepared, config)),
            Action::VerifyAndCommit => self.commit(prepared, config, State::Clear)?,
            Action::ReconcileAndCommit => self.commit(prepared, config, State::Keep)?,
            Action::Verify | Action::Commit | Action::Unspecified => {}
        }
        Ok(())
    }

    /// Runs a config that was just verified. It is the last one that was saved, too, so nothing is left to commit.
    fn commit(&self, prepared: Prepared, config: ForwardingPipelineConfig, state: State) -> Outcome {
        let mut saved = lock(&self.saved);
        let schema = Schema::new(prepared.program.clone());
        self.run(prepared, Pipeline::new(schema, config), state, &[])?;
        *saved = None;
        Ok(())
    }

    pub fn commit_saved(&self, has_config: bool) -> Outcome {
        if has_config {
            return Err(Failure::invalid("a commit takes the config that was saved: it brings none"));
        }
        // No Write comes between the saved config and the one that runs.
        let mut slot = lock(&self.saved);
        let Saved { prepared, pipeline, updates, .. } =
            slot.take().ok_or_else(|| Failure::missing("no config was saved"))?;
        let pipeline = Pipeline::new(Schema::new(pipeline.schema.program.clone()), pipeline.config);
        self.run(prepared, pipeline, State::Clear, &updates)
    }

    fn verify(&self, config: &ForwardingPipelineConfig) -> Outcome<Prepared> {
        let prepared = self.target.verify(config).map_err(cannot_run)?;
        if let Some(given) = &config.p4info {
            check_info(given, &control::p4info(&prepared.program))?;
        }
        Ok(prepared)
    }

    /// Writes and reads wait until the new pipeline runs, and has what `updates` write to it.
    fn run(&self, prepared: Prepared, mut pipeline: Pipeline, state: State, updates: &[Update]) -> Outcome {
        let program = prepared.program.clone();
        let mut running = self.pipeline_mut();
        pipeline.config.p4info.get_or_insert_with(|| control::p4info(&program));
        self.target.commit(prepared, state, &pipeline.config).map_err(cannot_run)?;
        let outcomes = self.begin(&mut pipeline, updates);
        *running = Some(pipeline);
        lock(&self.digests).clear();
        check_replayed(&outcomes?.transpose()?.unwrap_or_default())
    }

    /// A pipeline that has just begun to run gets the links of ports and what `updates` write; texts and digests are those of its store.
    pub fn begin(&self, pipeline: &mut Pipeline, updates: &[Update]) -> Outcome<Option<Outcome<Vec<Outcome>>>> {
        let ports_down = lock(&self.ports_down).clone();
        self.with_switch(|switch| {
            ports_down.iter().for_each(|port| follow_link(switch, *port, false));
            let replicas = replicas_of(switch.plane().store());
            self.ports().follow_missing(&pipeline.schema, switch, &replicas);
            pipeline.schema.dictionaries.take(switch.plane().store().texts());
            let outcomes =
                Writer::new(&pipeline.schema, switch, self.ports()).batch(updates, Atomicity::ContinueOnError);
            pipeline.follow(switch);
            outcomes
        })
    }

    /// The running config, or nothing if none runs.
    pub fn get_config(
        &self,
        request: &GetForwardingPipelineConfigRequest,
    ) -> Outcome<Option<ForwardingPipelineConfig>> {
        self.elections().check_device(request.device_id)?;
        let wanted = ResponseType::try_from(request.response_type)
            .map_err(|_| Failure::invalid("there is no such type of response"))?;
        let pipeline = self.pipeline();
        let Some(pipeline) = pipeline.as_ref() else {
            return match self.settings.no_config {
                NoConfig::Unset => Ok(None),
                NoConfig::Refused => Err(no_pipeline()),
            };
        };
        let info = || pipeline.config.p4info.clone();
        let program = || pipeline.config.p4_device_config.clone();
        let (p4info, p4_device_config) = match wanted {
            ResponseType::All => (info(), program()),
            ResponseType::CookieOnly => (None, Vec::new()),
            ResponseType::P4infoAndCookie => (info(), Vec::new()),
            ResponseType::DeviceConfigAndCookie => (None, program()),
        };
        Ok(Some(ForwardingPipelineConfig { p4info, p4_device_config, cookie: pipeline.config.cookie }))
    }
}

/// Compiles a config and saves it, for whom no election counts.
pub fn save(device: &Device, config: ForwardingPipelineConfig) -> Outcome {
    let _one_at_a_time = lock(&device.configuring);
    let prepared = device.verify(&config)?;
    *lock(&device.saved) = Some(Saved::new(prepared, config));
    Ok(())
}

/// A pipeline that the process runs already when the server starts.
pub fn running(program: Arc<hlir::Program>, mut config: ForwardingPipelineConfig) -> Pipeline {
    config.p4info.get_or_insert_with(|| control::p4info(&program));
    Pipeline::new(Schema::new(program), config)
}

/// All that are in multicast groups and clone sessions.
fn replicas_of(store: &Store) -> Vec<BackedReplica> {
    let of_groups = store.multicast_groups().flat_map(|(_, group)| group.replicas.clone());
    let of_sessions = store.sessions().flat_map(|(_, session)| match &session.target {
        SessionTarget::Members(replicas) => replicas.clone(),
        SessionTarget::Group(_) => Vec::new(),
    });
    of_groups.chain(of_sessions).collect()
}

/// What was accepted for the saved config is refused by the switch only where a data plane has less room than the program declares.
fn check_replayed(outcomes: &[Outcome]) -> Outcome {
    let mut failed = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    let Some(first) = failed.next() else { return Ok(()) };
    let (count, all) = (1 + failed.count(), outcomes.len());
    let sentence =
        format!("the config runs, but {count} of {all} writes since it was saved failed: {}", first.sentence);
    Err(Failure::new(first.code, sentence))
}

fn cannot_run(refusal: Refusal) -> Failure {
    Failure::new(Code::InvalidArgument, refusal.sentence)
}
