//! Writes that are on disk before their answer, by several clients; and the start of a switch that has them.

use super::client::{Client, Ids, refused};
use super::entries;
use super::report::Records;
use super::rig::{self, Rig};
use crate::run::live::{Built, Live};
use crate::run::pushed::Builder;
use crate::run::state;
use driver::failure::Failure;
use p4runtime::P4RuntimeClient;
use runtime::{MemoryPort, Settings};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tonic::Status;
use tonic::transport::Channel;

type Service = P4RuntimeClient<Channel>;

const CLIENTS: usize = 8;
/// Writes that a client has under way.
const UNDER_WAY: usize = 32;

/// What both measures need.
pub struct Given<'b> {
    pub built: &'b Built,
    pub builder: Builder,
    pub ids: &'b Ids,
    pub entries: u32,
    pub seconds: Duration,
    /// Where the directory of the state is made.
    pub state: Option<&'b Path>,
}

/// A directory for the state, which is removed behind the measure.
struct Folder(PathBuf);

impl Folder {
    fn below(parent: Option<&Path>) -> Folder {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        Folder(parent.join(format!("bacus-durable-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// The median time in which the disk takes a page of a file.
fn sync_time(folder: &Path) -> Result<Duration, Failure> {
    const TIMES: usize = 21;
    let path = folder.join("probe");
    let timed = || -> std::io::Result<Duration> {
        let mut file = File::create(&path)?;
        let mut times = Vec::with_capacity(TIMES);
        for _ in 0..TIMES {
            file.write_all(&[0; 4096])?;
            let begin = Instant::now();
            file.sync_data()?;
            times.push(begin.elapsed());
        }
        std::fs::remove_file(&path)?;
        times.sort();
        Ok(times[TIMES / 2])
    };
    timed().map_err(|error| Failure::environment(format!("{}: {error}", path.display())))
}

/// Single Writes of all clients in a second, each with so many under way. Entries begin with the number `next`.
fn rate(
    (ids, seconds): (&Ids, Duration),
    (client, services): (&Client, &[Service]),
    (under_way, next): (usize, &Arc<AtomicU32>),
) -> Result<f64, Failure> {
    let (begin, written) = (Instant::now(), Arc::new(AtomicU32::new(0)));
    let end = begin + seconds;
    let done: Result<(), Status> = client.runtime.block_on(async {
        let mut calls = tokio::task::JoinSet::new();
        for service in services {
            for _ in 0..under_way {
                let (mut service, next, written) = (service.clone(), next.clone(), written.clone());
                let ids = ids.clone();
                calls.spawn(async move {
                    while Instant::now() < end {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        service.write(Client::request(vec![entries::host(&ids, "hosts", number)])).await?;
                        written.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok::<(), Status>(())
                });
            }
        }
        while let Some(call) = calls.join_next().await {
            call.map_err(|error| Status::internal(error.to_string()))??;
        }
        Ok(())
    });
    done.map_err(|status| refused(&status))?;
    Ok(f64::from(written.load(Ordering::Relaxed)) / begin.elapsed().as_secs_f64())
}

pub fn durable(given: Given<'_>, records: &mut Records) -> Result<(), Failure> {
    let folder = Folder::below(given.state);
    let rig = Rig::saved(given.built, given.builder, &folder.0)?;
    records.note("the disk takes a page in", sync_time(&folder.0)?.as_secs_f64() * 1000.0, "ms");
    let client = Client::of(&rig)?;
    let services: Vec<Service> = (0..CLIENTS).map(|_| client.another(&rig)).collect::<Result<_, _>>()?;
    let next = Arc::new(AtomicU32::new(0));
    let rate = |under_way| rate((given.ids, given.seconds), (&client, &services), (under_way, &next));
    let alone = rate(1)?;
    records.note("durable Writes of 8 clients, each waits", alone, "/s");
    let many = rate(UNDER_WAY)?;
    records.at_least("durable Writes of 8 clients, 32 under way", many, "/s", 5000.0);
    Ok(())
}

pub fn restart(given: Given<'_>, records: &mut Records) -> Result<(), Failure> {
    let folder = Folder::below(given.state);
    let rig = Rig::saved(given.built, given.builder, &folder.0)?;
    let mut client = Client::of(&rig)?;
    let begin = Instant::now();
    client.write_all(entries::hosts(given.ids, 0, given.entries))?;
    let rate = f64::from(given.entries) / begin.elapsed().as_secs_f64();
    records.note("durable inserts in batches of 1,000", rate, "/s");
    drop((client, rig));
    let begin = Instant::now();
    let (keeper, kept) = state::open(&folder.0)?;
    let read = begin.elapsed();
    let settings = Settings { ports: rig::CPU_PORT + 1, seed: 0 };
    let mut live = Live::new(vec![MemoryPort::new(rig::BUFFERS)], settings, Some(rig::CPU_PORT));
    let engine = live.begin(given.built)?;
    let kept = kept.ok_or_else(|| Failure::environment("the state was not saved"))?;
    let restored = kept.restored(&engine.program())?;
    let table = given.built.program.tables.iter().find(|(_, table)| table.name.ends_with("hosts"));
    let count = table.map_or(0, |(id, _)| restored.store.entry_count(id));
    engine.restore(restored.store).map_err(|refusal| Failure::refusal("--state", &refusal))?;
    let seconds = begin.elapsed().as_secs_f64();
    drop(keeper);
    records.note("entries kept", count as f64, "");
    records.note("to read and check the file", read.as_secs_f64(), "s");
    records.at_most("start with them, without the compiler", seconds, "s", 3.0);
    Ok(())
}
