//! The files of an upper layer, opened without following what a command may have left as a trap.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::LayerError;
use super::sys::{self, Type, at};

/// An open upper layer.
#[derive(Debug)]
pub struct Upper(OwnedFd);

impl Upper {
    /// Opens a layer.
    pub fn open(path: &Path) -> Result<Self, LayerError> {
        let opened = sys::open_root(path).map_err(at("open", sys::bytes_of(path)))?;
        Ok(Self(opened))
    }

    /// Opens a file of the layer by its path in it. No link is followed, and nothing but a regular
    /// file is opened.
    pub fn file(&self, path: &[u8]) -> Result<File, LayerError> {
        let doing = || at("read", path);
        if sys::stat_at(&self.0, path).map_err(doing())?.kind != Type::File {
            return Err(doing()(std::io::ErrorKind::InvalidInput.into()));
        }
        sys::open_own_file(&self.0, path).map_err(doing())
    }
}
