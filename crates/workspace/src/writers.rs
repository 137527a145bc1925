//! Who may write a file that is about to go: asked once for many files.

use std::collections::BTreeSet;

use crate::error::{Error, at};
use crate::options::WriterProbe;
use crate::sys::{self, Handle, Kind};

/// Files by device and inode.
pub(crate) type Files = BTreeSet<(u64, u64)>;

/// The files in these trees that someone may write right now.
pub(crate) fn held(probe: WriterProbe, trees: &[(&Handle, &[u8])]) -> Result<Files, Error> {
    let mut asked = Files::new();
    let mut held = Files::new();
    for (folder, name) in trees {
        walk(probe, folder, name, (&mut asked, &mut held))?;
    }
    match probe {
        WriterProbe::Processes if !asked.is_empty() => {
            sys::written_by_someone(&asked).map_err(at("look at", "the processes' open files"))
        }
        WriterProbe::Processes | WriterProbe::Lease(_) => Ok(held),
    }
}

fn walk(
    probe: WriterProbe,
    folder: &Handle,
    name: &[u8],
    (asked, held): (&mut Files, &mut Files),
) -> Result<(), Error> {
    let doing = || at("look at", String::from_utf8_lossy(name).into_owned());
    let stat = match sys::stat_at(folder, name) {
        Err(error) if sys::is_missing(&error) => return Ok(()),
        other => other.map_err(doing())?,
    };
    match stat.kind {
        Kind::File => {
            asked.insert((stat.dev, stat.ino));
            if let WriterProbe::Lease(lease) = probe {
                let file = sys::open_read(folder, name).map_err(doing())?;
                if sys::ask_lease(&file, lease).map_err(doing())? {
                    held.insert((stat.dev, stat.ino));
                }
            }
        }
        Kind::Dir => {
            let inner = sys::open_dir(folder, name).map_err(doing())?;
            for below in sys::names(&inner).map_err(doing())? {
                walk(probe, &inner, &below, (asked, held))?;
            }
        }
        Kind::Symlink | Kind::Fifo | Kind::Socket | Kind::Device => {}
    }
    Ok(())
}
