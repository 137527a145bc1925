//! Talking to someone outside.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixDatagram, UnixStream};
use std::time::Duration;

use crate::outcome::{Attempt, Outcome, any, at, only_if, stop};
use crate::setting::Setting;
use crate::sys::{self, address, call};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("tcp", |setting| {
        tcp(IpAddr::V4(Ipv4Addr::LOCALHOST), setting)
    }),
    ("tcp-6", |setting| {
        tcp(IpAddr::V6(Ipv6Addr::LOCALHOST), setting)
    }),
    ("tcp-mapped", |setting| {
        tcp(IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped()), setting)
    }),
    ("tcp-any-address", |setting| {
        tcp(IpAddr::V4(Ipv4Addr::UNSPECIFIED), setting)
    }),
    ("tcp-own-addresses", tcp_own_addresses),
    ("tcp-fast-open", tcp_fast_open),
    ("tcp-multipath", tcp_multipath),
    ("udp", udp),
    ("udp-6", udp_6),
    ("unix-path", unix_path),
    ("unix-path-datagram", unix_path_datagram),
    ("unix-path-by-symlink", unix_path_by_symlink),
    ("unix-path-by-descriptor", unix_path_by_descriptor),
    ("unix-abstract", unix_abstract),
    ("unix-run", unix_run),
    ("vsock", |_| socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
    ("netlink-route", netlink_route),
    ("netlink-audit", |_| {
        socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_AUDIT)
    }),
    ("netlink-connector", |_| {
        socket(libc::AF_NETLINK, libc::SOCK_DGRAM, libc::NETLINK_CONNECTOR)
    }),
    ("netlink-uevent", |_| {
        socket(
            libc::AF_NETLINK,
            libc::SOCK_RAW,
            libc::NETLINK_KOBJECT_UEVENT,
        )
    }),
    ("netlink-diag", |_| {
        socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_SOCK_DIAG)
    }),
    ("packet", |_| {
        socket(libc::AF_PACKET, libc::SOCK_RAW, 0x0300)
    }),
    ("raw-icmp", |_| socket(libc::AF_INET, libc::SOCK_RAW, 1)),
    ("ping", |_| socket(libc::AF_INET, libc::SOCK_DGRAM, 1)),
    ("sctp", |_| socket(libc::AF_INET, libc::SOCK_STREAM, 132)),
    ("kernel-crypto", |_| {
        socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)
    }),
    ("bluetooth", |_| {
        socket(libc::AF_BLUETOOTH, libc::SOCK_RAW, 1)
    }),
    ("can", |_| socket(libc::AF_CAN, libc::SOCK_RAW, 1)),
    ("tipc", |_| socket(libc::AF_TIPC, libc::SOCK_STREAM, 0)),
    ("rds", |_| socket(libc::AF_RDS, libc::SOCK_SEQPACKET, 0)),
    ("kcm", |_| socket(41, libc::SOCK_SEQPACKET, 0)),
    ("qipcrtr", |_| socket(42, libc::SOCK_DGRAM, 0)),
    ("smc", |_| socket(43, libc::SOCK_STREAM, 0)),
    ("xdp", |_| socket(44, libc::SOCK_RAW, 0)),
    ("ipsec-key", |_| socket(15, libc::SOCK_RAW, 2)),
    ("appletalk", |_| {
        socket(libc::AF_APPLETALK, libc::SOCK_DGRAM, 0)
    }),
    ("x25", |_| socket(libc::AF_X25, libc::SOCK_SEQPACKET, 0)),
    ("interface-added", interface_added),
    ("message-queue", message_queue),
    ("name-lookup", name_lookup),
];

const PATIENCE: Duration = Duration::from_millis(500);

/// Open only if the greeting of the test was heard.
fn tcp(host: IpAddr, setting: &Setting) -> Outcome {
    let to = SocketAddr::new(host, setting.port);
    let mut stream = TcpStream::connect_timeout(&to, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut greeting = [0; 1];
    stream.read_exact(&mut greeting)?;
    Ok(())
}

/// Addresses of the machine's other interfaces, as far as they are shown.
fn tcp_own_addresses(setting: &Setting) -> Outcome {
    let text = std::fs::read_to_string("/proc/net/fib_trie").map_err(at("addresses"))?;
    let mut outcomes = vec![];
    for word in text.split_ascii_whitespace() {
        if let Ok(host) = word.parse::<Ipv4Addr>()
            && !host.is_loopback()
            && !host.is_unspecified()
            && outcomes.len() < 8
        {
            outcomes.push(tcp(IpAddr::V4(host), setting));
        }
    }
    if outcomes.is_empty() {
        return only_if(false, "no address is shown");
    }
    any(outcomes)
}

fn address_of(port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: 2,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes([127, 0, 0, 1]),
        },
        sin_zero: [0; 8],
    }
}

/// Data with the first packet, without a call to connect.
fn tcp_fast_open(setting: &Setting) -> Outcome {
    let fd = call(libc::SYS_socket, &[2, 1, 0]).map_err(at("socket"))?;
    let fd = sys::owned(fd)?;
    let to = address_of(setting.port);
    let arguments = [
        i64::from(fd.as_raw_fd()),
        address(b"x"),
        1,
        i64::from(libc::MSG_FASTOPEN),
        address(&to),
        16,
    ];
    call(libc::SYS_sendto, &arguments)?;
    heard(fd)
}

fn tcp_multipath(setting: &Setting) -> Outcome {
    let fd = call(libc::SYS_socket, &[2, 1, 262]).map_err(at("socket"))?;
    let fd = sys::owned(fd)?;
    let to = address_of(setting.port);
    call(
        libc::SYS_connect,
        &[i64::from(fd.as_raw_fd()), address(&to), 16],
    )?;
    heard(fd)
}

fn heard(fd: std::os::fd::OwnedFd) -> Outcome {
    if !sys::wait_readable(&fd, PATIENCE) {
        return Err(stop("nobody answers"));
    }
    let mut greeting = [0; 1];
    std::fs::File::from(fd).read_exact(&mut greeting)?;
    Ok(())
}

/// A datagram can be sent to nobody, so it counts only if it is answered.
fn udp_to(from: SocketAddr, to: SocketAddr) -> Outcome {
    let socket = UdpSocket::bind(from).map_err(at("bind"))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send_to(b"x", to)?;
    let mut answer = [0; 16];
    match socket.recv(&mut answer) {
        Ok(_) => Ok(()),
        Err(_) => Err(stop("nobody answers")),
    }
}

fn udp(setting: &Setting) -> Outcome {
    let from = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
    udp_to(
        from,
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), setting.port),
    )
}

fn udp_6(setting: &Setting) -> Outcome {
    let from = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0);
    udp_to(
        from,
        SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), setting.port),
    )
}

fn greeted(mut stream: UnixStream) -> Outcome {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut greeting = [0; 1];
    stream.read_exact(&mut greeting)?;
    Ok(())
}

fn unix_path(setting: &Setting) -> Outcome {
    greeted(UnixStream::connect(&setting.socket)?)
}

fn unix_path_datagram(setting: &Setting) -> Outcome {
    let socket = UnixDatagram::unbound().map_err(at("socket"))?;
    socket.send_to(b"x", setting.socket.with_extension("datagram"))?;
    Ok(())
}

fn unix_path_by_symlink(setting: &Setting) -> Outcome {
    let own = setting.own("escape-socket");
    std::os::unix::fs::symlink(&setting.socket, &own).map_err(at("symlink"))?;
    let connected = UnixStream::connect(&own);
    drop(std::fs::remove_file(&own));
    greeted(connected?)
}

fn unix_path_by_descriptor(setting: &Setting) -> Outcome {
    let handle = sys::open(&setting.socket, libc::O_PATH).map_err(at("open"))?;
    greeted(UnixStream::connect(format!(
        "/proc/self/fd/{}",
        handle.as_raw_fd()
    ))?)
}

fn unix_abstract(setting: &Setting) -> Outcome {
    let name = UnixAddr::from_abstract_name(setting.abstract_name.as_bytes())?;
    greeted(UnixStream::connect_addr(&name)?)
}

/// Any socket below `/run`: those of container engines and of the system.
fn unix_run(_: &Setting) -> Outcome {
    let known = [
        "/run/docker.sock",
        "/run/containerd/containerd.sock",
        "/run/dbus/system_bus_socket",
        "/run/systemd/private",
        "/run/systemd/journal/socket",
        "/var/run/docker.sock",
    ];
    let outcomes = known.map(|name| UnixStream::connect(name).map(drop).map_err(Into::into));
    any(outcomes.into())
}

fn socket(family: i32, kind: i32, protocol: i32) -> Outcome {
    let arguments = [i64::from(family), i64::from(kind), i64::from(protocol)];
    let fd = call(libc::SYS_socket, &arguments)?;
    drop(sys::owned(fd)?);
    Ok(())
}

/// Open only if an interface besides the loopback is told.
fn netlink_route(_: &Setting) -> Outcome {
    socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)
}

/// Another interface in the own network.
fn interface_added(_: &Setting) -> Outcome {
    let fd = call(libc::SYS_socket, &[2, 2, 0]).map_err(at("socket"))?;
    let fd = sys::owned(fd)?;
    let mut request = [0_u8; 40];
    request[..2].copy_from_slice(b"lo");
    request[16] = 0x41;
    let set_flags = 0x8914;
    // SAFETY: the request takes a pointer to forty bytes, which live until the call returns.
    sys::checked(unsafe { libc::ioctl(fd.as_raw_fd(), set_flags, request.as_ptr()) })?;
    Ok(())
}

/// Message queues are shared by all who share the namespace of their names.
fn message_queue(_: &Setting) -> Outcome {
    let name = c"tagout-escape";
    let flags = i64::from(libc::O_CREAT | libc::O_RDWR);
    let arguments = [address(name.to_bytes_with_nul()), flags, 0o600, 0];
    let fd = call(libc::SYS_mq_open, &arguments)?;
    drop(sys::owned(fd)?);
    drop(call(
        libc::SYS_mq_unlink,
        &[address(name.to_bytes_with_nul())],
    ));
    Ok(())
}

/// A question to whoever resolves names carries data out.
fn name_lookup(_: &Setting) -> Outcome {
    let text = std::fs::read_to_string("/etc/resolv.conf").map_err(at("resolv.conf"))?;
    let server = text
        .lines()
        .find_map(|line| line.strip_prefix("nameserver "))
        .and_then(|host| host.trim().parse::<IpAddr>().ok())
        .unwrap_or(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 53)));
    let socket = UdpSocket::bind("0.0.0.0:0").map_err(at("bind"))?;
    socket.connect((server, 53)).map_err(at("connect"))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut question = vec![0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    question.write_all(b"\x07example\x07invalid\0\0\x01\0\x01")?;
    socket.send(&question)?;
    let mut answer = [0; 512];
    match socket.recv(&mut answer) {
        Ok(_) => Ok(()),
        Err(_) => Err(stop("nobody answers")),
    }
}
