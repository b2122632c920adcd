//! A hundred thousand packets are a matter of seconds, even without optimisation.

use control::DataPlane;
use control::plane::Frame;
use interp::{PORTS, Switch};
use std::time::{Duration, Instant};

#[test]
fn a_hundred_thousand_packets_take_seconds() {
    let program = hlir::text::parse_program(include_str!("../../../hlir/tests/programs/l2fwd.hlir"));
    let program = program.expect("the program is well formed");
    let mut switch = Switch::new(&program, 0, PORTS);
    let frame = |number: u32| Frame {
        port: number % 4,
        bytes: [&[0, 0, 0, 0, 0, 0xaa + (number % 2) as u8 * 0x11], &number.to_be_bytes()[..], &[0; 54]].concat(),
    };
    let start = Instant::now();
    let mut outputs = 0;
    for burst in 0..1600 {
        let frames: Vec<Frame> = (0..64).map(|index| frame(burst * 64 + index)).collect();
        outputs += switch.process(&frames).expect("the switch runs").outputs.len();
    }
    assert_eq!(outputs, 1600 * 64);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
