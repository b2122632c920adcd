//! Frames and headers, as bytes.

/// Ports that packets leave by, and the next hops of a router.
pub const PORTS: u64 = 64;
pub const NEXTHOPS: u64 = 200;
pub const ROUTER: u64 = 0x02_00_00_00_00_01;

/// An individual address, never the router's.
pub fn host_address(number: u64) -> u64 {
    number & 0xfcff_ffff_ffff | 0x0200_0000_0000
}

pub fn mac(address: u64) -> [u8; 6] {
    let bytes = address.to_be_bytes();
    [bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]
}

pub fn ethernet(dst: u64, src: u64, kind: u16) -> Vec<u8> {
    [&mac(dst)[..], &mac(src), &kind.to_be_bytes()].concat()
}

/// A header of a packet of `length` bytes, with a right checksum.
pub fn ipv4(src: u32, dst: u32, protocol: u8, length: u16) -> [u8; 20] {
    let mut header = [0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    header[2..4].copy_from_slice(&length.to_be_bytes());
    header[12..16].copy_from_slice(&src.to_be_bytes());
    header[16..20].copy_from_slice(&dst.to_be_bytes());
    let checksum = checksum(&header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}

/// Of an even number of bytes.
pub fn checksum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum + (sum >> 16)) as u16)
}

/// A header of UDP before `length - 8` bytes of zeros, with a right checksum.
pub fn udp(src: u32, dst: u32, ports: [u16; 2], length: u16) -> [u8; 8] {
    udp_over(src, dst, ports, length, &[])
}

/// The same before an even number of bytes, and zeros behind them.
pub fn udp_over(src: u32, dst: u32, ports: [u16; 2], length: u16, payload: &[u8]) -> [u8; 8] {
    let covered = [&src.to_be_bytes()[..], &dst.to_be_bytes(), &[0, 17], &length.to_be_bytes(), payload].concat();
    let [from, to, length] = [ports[0], ports[1], length].map(u16::to_be_bytes);
    let mut header = [from[0], from[1], to[0], to[1], length[0], length[1], 0, 0];
    let sum = match checksum(&[&covered[..], &header].concat()) {
        0 => 0xffff,
        sum => sum,
    };
    header[6..].copy_from_slice(&sum.to_be_bytes());
    header
}

pub fn padded(mut frame: Vec<u8>, length: usize) -> Vec<u8> {
    frame.resize(length, 0);
    frame
}

/// Port and both addresses.
pub fn nexthop(number: u64) -> [u64; 3] {
    let hop = number % NEXTHOPS;
    [hop % PORTS, host_address(0x1000 + hop), host_address(0x2000 + hop)]
}
