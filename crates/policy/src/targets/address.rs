//! Which machines an address, or a text that names addresses, reaches.

/// The hosts named in a text. Empty when none can be told.
pub(super) fn hosts(text: &str) -> Vec<String> {
    let mut hosts = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("://") {
        let end = after.find(is_end).unwrap_or(after.len());
        let (authority, tail) = after.split_at_checked(end).unwrap_or((after, ""));
        hosts.extend(host_of(authority));
        rest = tail;
    }
    hosts.sort();
    hosts.dedup();
    hosts
}

fn is_end(c: char) -> bool {
    matches!(
        c,
        '/' | '?' | '#' | '\\' | '"' | '\'' | '<' | '>' | '`' | ','
    ) || c.is_whitespace()
}

/// The host of `user:password@host:port`.
fn host_of(authority: &str) -> Option<String> {
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(literal) => literal.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let host = host.trim_end_matches(['.', ')', ']']).to_lowercase();
    (!host.is_empty()).then_some(host)
}
