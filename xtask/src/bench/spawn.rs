//! How much a start of the binary costs against the cheapest process there is.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::rounds::{Contender, medians};
use super::{Budget, Line};
use crate::docs::executable;
use crate::error::XtaskError;
use crate::process::{answer, cargo_command};

/// A hook that also judges and syncs has to stay under this, so a bare start has to as well.
const RATIO_MAX: f64 = 2.5;

/// Spawns both in turns.
pub(super) fn run(rounds: usize) -> Result<Vec<Line>, XtaskError> {
    let folder =
        tempfile::tempdir().map_err(XtaskError::file("create", Path::new("a temporary folder")))?;
    let empty = empty_program(folder.path())?;
    let product = release_binary()?;
    let mut contenders: Vec<Contender<'_>> = vec![
        Box::new(|| time(&mut Command::new(&empty))),
        Box::new(|| time(Command::new(&product).arg("--version"))),
    ];
    let found = medians(rounds, &mut contenders)?;
    let (empty, product) = match found.as_slice() {
        [empty, product] => (*empty, *product),
        _ => (f64::NAN, f64::NAN),
    };
    let line = |what: &str, value, unit, budget| Line {
        benchmark: "spawn",
        what: what.to_owned(),
        value,
        unit,
        budget,
    };
    Ok(vec![
        line("empty C program", empty, "µs", Budget::Shown),
        line("tagout --version", product, "µs", Budget::Shown),
        line(
            "tagout --version / empty C program",
            product / empty,
            "×",
            Budget::AtMost(RATIO_MAX),
        ),
    ])
}

/// Compiles the cheapest process.
pub(super) fn empty_program(folder: &Path) -> Result<std::path::PathBuf, XtaskError> {
    let source = folder.join("empty.c");
    std::fs::write(&source, "int main(void) { return 0; }\n")
        .map_err(XtaskError::file("write", &source))?;
    let program = folder.join("empty");
    answer(
        Command::new("cc")
            .arg("-O2")
            .arg("-o")
            .arg(&program)
            .arg(&source),
    )?;
    Ok(program)
}

/// Builds the product as people run it, and says where it is.
pub(super) fn release_binary() -> Result<String, XtaskError> {
    let messages = answer(&mut cargo_command(&[
        "build",
        "--release",
        "--package",
        "tagout",
        "--message-format",
        "json-render-diagnostics",
    ]))?;
    executable(&messages).ok_or_else(|| XtaskError::Command {
        command: "cargo build --release".to_owned(),
        stderr: "named no executable".to_owned(),
    })
}

/// One run, from the spawn to the end. A run that fails is no measurement.
fn time(command: &mut Command) -> Result<Duration, XtaskError> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status();
    let took = start.elapsed();
    let program = command.get_program().to_string_lossy().into_owned();
    match status {
        Ok(status) if status.success() => Ok(took),
        Ok(status) => Err(XtaskError::Command {
            command: program,
            stderr: status.to_string(),
        }),
        Err(source) => Err(XtaskError::Spawn { program, source }),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{empty_program, time};

    #[test]
    fn the_empty_program_is_built_and_timed_and_a_failing_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let empty = empty_program(folder.path()).unwrap();
        assert!(time(&mut Command::new(empty)).unwrap().as_nanos() > 0);
        assert!(time(&mut Command::new("false")).is_err());
    }
}
