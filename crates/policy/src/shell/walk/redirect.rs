//! Redirections.

use super::{State, Walker};
use crate::shell::ast::Redirect;
use crate::shell::judge::Findings;

impl Walker<'_> {
    pub(super) fn redirect(
        &mut self,
        redirect: &Redirect,
        state: &mut State,
        findings: &mut Findings,
    ) {
        match redirect {
            Redirect::Read(word) => {
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
            Redirect::Duplicate { word, output } => {
                for arg in self.fields(word, state) {
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
