//! What a switch reports to systemd, or another manager of services that has set `NOTIFY_SOCKET` (`sd_notify(3)`). Without one, nothing.

use sd_notify::NotifyState;

/// Packets are forwarded from now on.
pub fn ready(status: &str) {
    notify(&[NotifyState::Ready, NotifyState::Status(status)]);
}

pub fn stopping() {
    notify(&[NotifyState::Stopping]);
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        eprintln!("warning: the manager of services (NOTIFY_SOCKET) does not hear: {error}");
    }
}
