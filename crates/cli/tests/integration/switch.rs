//! A switch that runs without root, and `bacus ctl` for it: what its port 1 sends comes back.

use crate::command::{bacus, path};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A running switch, and where the sockets of its user are.
pub struct Switch {
    pub process: Child,
    pub folder: PathBuf,
    /// Until it was ready.
    pub said: String,
    /// Since then.
    pub said_later: Arc<Mutex<String>>,
}

/// A folder for sockets: their paths have to be short.
pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("bacus-{name}-{}", std::process::id()));
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn objects() -> String {
    path("crates/cli/tests/ctl/objects.p4").display().to_string()
}

impl Switch {
    /// The address at which it listens for controllers.
    pub fn p4runtime(&self) -> &str {
        self.said.split("P4Runtime ").nth(1).unwrap().split_whitespace().next().unwrap()
    }

    pub fn start(folder: &Path, arguments: &[&str]) -> Switch {
        Switch::start_bare(folder, &[arguments, &["--port", "1=net_ring0"]].concat())
    }

    /// With no ports but those of the arguments.
    pub fn start_bare(folder: &Path, arguments: &[&str]) -> Switch {
        Switch::without_controller(folder, &[arguments, &["--cpu-port", "63"]].concat())
    }

    /// With no ports but those of the arguments, and none of them for a controller.
    pub fn without_controller(folder: &Path, arguments: &[&str]) -> Switch {
        let mut command = bacus();
        command.arg("run").args(arguments);
        Switch::ready(folder, command)
    }

    /// Runs a switch until it is ready.
    pub fn ready(folder: &Path, mut command: Command) -> Switch {
        command.env("XDG_RUNTIME_DIR", folder).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut said = String::new();
        let mut lines = BufReader::new(process.stderr.take().unwrap());
        while !said.lines().any(|line| line.starts_with("ready:")) {
            assert!(lines.read_line(&mut said).unwrap() > 0, "{said}");
        }
        let said_later = Arc::<Mutex<String>>::default();
        let later = said_later.clone();
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                later.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        Switch { process, folder: folder.to_path_buf(), said, said_later }
    }

    pub fn ctl(&self) -> Command {
        ctl(&self.folder)
    }

    pub fn run(&self, words: &[&str]) -> Output {
        self.ctl().args(words).output().unwrap()
    }

    /// What a command prints that works.
    pub fn ok(&self, words: &[&str]) -> String {
        let ran = self.run(words);
        assert!(ran.status.success(), "{words:?}: {}", error(&ran));
        String::from_utf8(ran.stdout).unwrap()
    }

    /// The exit code and the message of a command that fails.
    pub fn fails(&self, words: &[&str]) -> (i32, String) {
        let ran = self.run(words);
        assert!(!ran.status.success(), "{words:?}");
        (ran.status.code().unwrap(), error(&ran))
    }

    /// The commands of a text, one per line.
    pub fn script(&self, text: &str, flags: &[&str]) -> Output {
        let mut command = self.ctl();
        command.args(["-f", "-"]).args(flags).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut ran = command.spawn().unwrap();
        ran.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        ran.wait_with_output().unwrap()
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
        drop(fs::remove_dir_all(&self.folder));
    }
}

pub fn ctl(folder: &Path) -> Command {
    let mut command = bacus();
    command.arg("ctl").env("XDG_RUNTIME_DIR", folder);
    command
}

pub fn error(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

/// Waits for something that happens within a minute, or not at all.
pub fn until(happens: impl Fn() -> bool) {
    let start = Instant::now();
    while !happens() {
        assert!(start.elapsed() < Duration::from_secs(60), "it does not happen");
        // What is waited for needs the processors.
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The words of each line.
pub fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}
