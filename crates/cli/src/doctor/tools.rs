//! What a switch is made with: the C compiler, DPDK, the cache.

use super::finding::{Finding, State};
use driver::files;
use runtime::Compiler;

pub fn check(cc: Option<&str>) -> Vec<Finding> {
    vec![compiler(cc), dpdk(), cache()]
}

fn compiler(cc: Option<&str>) -> Finding {
    const OF: &str = "C compiler";
    match Compiler::find(cc) {
        Ok(compiler) => Finding::ok(OF, compiler.version()),
        Err(failure) => {
            let text = failure.to_string();
            let text = text.lines().next().unwrap_or("no C compiler");
            Finding::new(OF, State::Fault, text.trim_start_matches("no C compiler: "))
                .costs("programs are not compiled; what is in the cache runs")
                .mended("apt-get install gcc libc6-dev")
        }
    }
}

fn dpdk() -> Finding {
    const OF: &str = "DPDK";
    match runtime::dpdk_version() {
        Some(version) => Finding::ok(OF, version),
        None => Finding::new(
            OF,
            State::Missing,
            "pkg-config does not know libdpdk: ports on interfaces of the kernel need none",
        )
        .costs("no ports on NICs, captures and tap devices; interfaces of the kernel, and memif, need none")
        .mended("apt-get install pkg-config dpdk-dev libdpdk-dev"),
    }
}

fn cache() -> Finding {
    const OF: &str = "cache";
    match files::cache() {
        Ok(cache) => Finding::ok(OF, cache.root().display().to_string()),
        Err(failure) => Finding::new(OF, State::Fault, failure.message())
            .costs("nothing is compiled")
            .mended("export BACUS_CACHE=DIR, a directory that you may write"),
    }
}
