//! Redirections.

use super::{State, Walker};
use crate::shell::arg::Arg;
use crate::shell::ast::{Descriptor, Redirect};
use crate::shell::judge::Findings;

/// Where descriptors come from, anywhere in the line: a function may be read before its call.
#[derive(Debug, Default)]
pub(super) struct Descriptors {
    /// A file is opened for reading under a number of its own.
    opened: bool,
    /// What a program prints or complains goes to such a number.
    moved: bool,
}

impl Walker<'_> {
    pub(super) fn redirect(
        &mut self,
        redirect: &Redirect,
        state: &mut State,
        findings: &mut Findings,
    ) {
        match redirect {
            Redirect::Read { word, into } => {
                self.opened(into, state, findings);
                let args = self.fields(word, state);
                for arg in &args {
                    if special_socket(&arg.shown) || arg.holes && may_be_socket(&arg.head) {
                        findings.network(None);
                    } else {
                        self.read_path(arg, state, findings);
                    }
                }
            }
            Redirect::Write(word) => {
                for arg in self.fields(word, state) {
                    if special_socket(&arg.shown) {
                        findings.network(None);
                    } else {
                        self.write_path(&arg, state, findings);
                    }
                }
            }
            Redirect::Duplicate { word, output, into } => {
                for arg in self.fields(word, state) {
                    self.moved(into, *output, &arg, findings);
                    let descriptor = arg.text().is_some_and(|text| {
                        let digits = text.strip_suffix('-').unwrap_or(text);
                        digits.bytes().all(|b| b.is_ascii_digit())
                    });
                    if !descriptor && *output {
                        self.write_path(&arg, state, findings);
                    } else if !descriptor {
                        findings.unknown("it duplicates a descriptor that is not known");
                    }
                }
            }
            Redirect::HereString(word) => {
                self.single(word, state);
            }
            Redirect::HereDocument(body) => {
                for piece in body.borrow().iter() {
                    self.value(piece, state);
                }
            }
        }
    }
}

/// Why a name such as `/dev/stdout` may be a file that was meant to be read: opening it again by
/// that name opens it for writing.
const READ_AS_OUTPUT: &str = "a file that is opened for reading takes the place of an output";

impl Walker<'_> {
    /// A file is opened for reading.
    fn opened(&mut self, into: &Descriptor, state: &mut State, findings: &mut Findings) {
        match into {
            Descriptor::Usual => {}
            Descriptor::Number(number) if is_output(number) => findings.unknown(READ_AS_OUTPUT),
            Descriptor::Number(number) => {
                self.descriptors.opened |= !number.trim_start_matches('0').is_empty();
            }
            Descriptor::Named(name) => {
                self.name(&Arg::of(name), state, findings);
                self.descriptors.opened = true;
            }
        }
        self.check_descriptors(findings);
    }

    /// One descriptor becomes another.
    fn moved(&mut self, into: &Descriptor, output: bool, from: &Arg, findings: &mut Findings) {
        let to_output = match into {
            Descriptor::Usual => output,
            Descriptor::Number(number) => is_output(number),
            // Nothing prints to it, and it can be moved on only by a number that is not known.
            Descriptor::Named(_) => false,
        };
        let number = from.shown.trim_end_matches('-');
        if !to_output || number.is_empty() || is_output(number) {
            return;
        }
        if number.trim_start_matches('0').is_empty() {
            findings.unknown(READ_AS_OUTPUT);
        } else {
            self.descriptors.moved = true;
        }
        self.check_descriptors(findings);
    }

    fn check_descriptors(&self, findings: &mut Findings) {
        if self.descriptors.opened && self.descriptors.moved {
            findings.unknown(READ_AS_OUTPUT);
        }
    }
}

/// Standard output and standard error.
fn is_output(number: &str) -> bool {
    matches!(number.trim_start_matches('0'), "1" | "2")
}

/// Whether a path of which only the start is known may be such a name.
fn may_be_socket(head: &str) -> bool {
    head.len() > 1
        && ["/dev/tcp/", "/dev/udp/"]
            .iter()
            .any(|name| name.starts_with(head))
}

/// Names that the shell opens as connections.
fn special_socket(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}
