//! Just enough HTTP for a model's clients: one request a connection, an object or a stream back.

use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Requests are prompts: a few hundred kilobytes with all the tools' schemas.
const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;
const LINE_BYTES_MAX: u64 = 64 * 1024;
const HEADERS_MAX: usize = 200;
/// A client that stalls for longer than this is gone.
const PATIENCE: Duration = Duration::from_mins(2);

/// One request.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    /// Without its query.
    pub(super) path: String,
    pub(super) body: Value,
}

#[derive(Debug, Default)]
struct Headers {
    length: u64,
    chunked: bool,
    encoded: bool,
}

/// Reads one request; `None` at the end of the connection.
pub(super) fn read(stream: &TcpStream) -> io::Result<Option<Asked>> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let mut words = first.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Ok(None);
    };
    let headers = headers(&mut reader)?;
    let raw = if headers.chunked {
        chunks(&mut reader)?
    } else {
        exactly(&mut reader, headers.length)?
    };
    if headers.encoded {
        return Err(invalid("a compressed request is not understood here"));
    }
    let path = target.split('?').next().unwrap_or_default();
    let body = match raw.as_slice() {
        [] => Value::Null,
        bytes => serde_json::from_slice(bytes).map_err(io::Error::other)?,
    };
    Ok(Some(Asked {
        method: method.to_owned(),
        path: path.to_owned(),
        body,
    }))
}

fn headers(reader: &mut BufReader<&TcpStream>) -> io::Result<Headers> {
    let mut found = Headers::default();
    for _ in 0..HEADERS_MAX {
        let text = line(reader)?;
        if text.is_empty() {
            return Ok(found);
        }
        let (name, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => found.length = value.parse().map_err(io::Error::other)?,
            "transfer-encoding" => found.chunked = value.eq_ignore_ascii_case("chunked"),
            "content-encoding" => found.encoded = !value.eq_ignore_ascii_case("identity"),
            _ => {}
        }
    }
    Err(invalid("too many headers"))
}

fn line(reader: &mut BufReader<&TcpStream>) -> io::Result<String> {
    let mut text = String::new();
    reader.by_ref().take(LINE_BYTES_MAX).read_line(&mut text)?;
    Ok(text.trim_end().to_owned())
}

fn exactly(reader: &mut BufReader<&TcpStream>, length: u64) -> io::Result<Vec<u8>> {
    if length > BODY_BYTES_MAX {
        return Err(invalid("the request is too large"));
    }
    let mut bytes = Vec::new();
    reader.by_ref().take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn chunks(reader: &mut BufReader<&TcpStream>) -> io::Result<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let head = line(reader)?;
        let size = head.split(';').next().unwrap_or_default();
        let size = u64::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
        if size == 0 {
            line(reader)?;
            return Ok(whole);
        }
        whole.extend(exactly(reader, size)?);
        if whole.len() as u64 > BODY_BYTES_MAX {
            return Err(invalid("the request is too large"));
        }
        line(reader)?;
    }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}

/// Answers with one object and closes.
pub(super) fn object(stream: &mut TcpStream, value: &Value) -> io::Result<()> {
    let body = value.to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// Answers with a stream of events, each with its name where the dialect has names, and closes.
pub(super) fn events(stream: &mut TcpStream, events: &[Event]) -> io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    for event in events {
        if let Some(name) = &event.name {
            writeln!(stream, "event: {name}")?;
        }
        write!(stream, "data: {}\n\n", event.data)?;
        stream.flush()?;
    }
    Ok(())
}

/// One event of a stream.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) name: Option<String>,
    pub(super) data: String,
}

impl Event {
    /// An event whose name stands in its data too.
    pub(super) fn typed(data: &Value) -> Self {
        let name = data.get("type").and_then(Value::as_str).map(str::to_owned);
        Self {
            name,
            data: data.to_string(),
        }
    }

    /// An event without a name.
    pub(super) fn plain(data: &impl ToString) -> Self {
        Self {
            name: None,
            data: data.to_string(),
        }
    }
}
