//! Messages with descriptors over a socket.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use super::wire::Request;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tagout_vocab::limits::{SANDBOX_REPORT_BYTES_MAX, SANDBOX_SPEC_BYTES_MAX};

/// The most descriptors that go with a request: the run's socket and the three standard ones.
const HANDLES_MAX: usize = 4;

/// Sends one request with its descriptors.
pub(super) fn send_request(
    socket: &UnixStream,
    request: &Request,
    handles: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let bytes = postcard::to_stdvec(request).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !handles.is_empty() && !control.push(SendAncillaryMessage::ScmRights(handles)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let header = length.to_le_bytes();
    let sent = sendmsg(
        socket,
        &[IoSlice::new(&header)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    if sent != header.len() {
        return Err(io::ErrorKind::WriteZero.into());
    }
    let mut socket = socket;
    socket.write_all(&bytes)
}

/// Waits for the next request and its descriptors, in the order they were sent; `None` when the
/// other side is gone.
pub(super) fn next_request(socket: &UnixStream) -> io::Result<Option<(Request, Vec<OwnedFd>)>> {
    let mut header = [0_u8; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
    let mut buffers = [IoSliceMut::new(&mut header)];
    let received =
        rustix::io::retry_on_intr(|| recvmsg(socket, &mut buffers, &mut control, flags))?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut handles = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            handles.extend(rights);
        }
    }
    let length = u32::from_le_bytes(header) as usize;
    if received.bytes != header.len() || length > SANDBOX_SPEC_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    let mut socket = socket;
    socket.read_exact(&mut bytes)?;
    let request = postcard::from_bytes(&bytes).map_err(io::Error::other)?;
    Ok(Some((request, handles)))
}

/// A pair of sockets that keep messages apart: one for the caller, one for the first process.
pub(super) fn run_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

/// What lets a first process start its command.
const START: &[u8] = b"start";

/// What comes with control groups, with their number: one that got lost on the way would be a bound
/// that nobody holds.
fn told(groups: usize) -> Vec<u8> {
    format!("join {groups}").into_bytes()
}

/// Gives a first process the word to start its command.
pub(super) fn send_word(run: impl AsFd) -> io::Result<()> {
    match rustix::net::send(run, START, SendFlags::NOSIGNAL) {
        // One that is gone has said why.
        Ok(_) | Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Waits for that word; whether it was that one.
pub(super) fn receive_word(run: impl AsFd) -> io::Result<bool> {
    let mut heard = [0_u8; 16];
    let (length, _) =
        rustix::io::retry_on_intr(|| rustix::net::recv(&run, &mut heard[..], RecvFlags::empty()))?;
    Ok(heard.get(..length) == Some(START))
}

/// Hands a first process the control groups that its command will be in.
pub(super) fn send_groups(run: impl AsFd, groups: &[OwnedFd]) -> io::Result<()> {
    let groups: Vec<_> = groups.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !groups.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&groups)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let told = told(groups.len());
    let told = [IoSlice::new(&told)];
    match sendmsg(run, &told, &mut control, SendFlags::NOSIGNAL) {
        // One that is gone has said why.
        Ok(_) | Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Waits for the groups to join; `None` when something else came, or nobody is there.
pub(super) fn receive_groups(run: impl AsFd) -> io::Result<Option<Vec<OwnedFd>>> {
    let mut heard = [0_u8; 16];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut buffers = [IoSliceMut::new(&mut heard)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = rustix::io::retry_on_intr(|| recvmsg(&run, &mut buffers, &mut control, flags))?;
    let mut groups = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            groups.extend(rights);
        }
    }
    let is_whole = heard.get(..received.bytes) == Some(told(groups.len()).as_slice());
    Ok(is_whole.then_some(groups))
}

/// Sends one message. Whoever is gone does not need it, so errors are for the caller to judge.
pub(super) fn send_report(socket: impl AsFd, report: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_stdvec(report).map_err(io::Error::other)?;
    rustix::net::send(socket, &bytes, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Waits for one message; `None` when the other side is gone.
pub(super) fn receive_report<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Option<T>> {
    let mut buffer = vec![0; SANDBOX_REPORT_BYTES_MAX];
    let mut reset = false;
    let received = loop {
        match rustix::net::recv(&socket, &mut buffer[..], RecvFlags::empty()) {
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::CONNRESET) if !reset => {
                // It left words of ours unread. What it said itself comes after that news.
                reset = true;
            }
            Err(rustix::io::Errno::CONNRESET) => return Ok(None),
            other => break other?.1,
        }
    };
    match buffer.get(..received) {
        None | Some([]) => Ok(None),
        Some(bytes) => postcard::from_bytes(bytes)
            .map(Some)
            .map_err(io::Error::other),
    }
}
