//! Systems without overlays: everything refuses.

use std::path::Path;

use super::{ChangeSet, IsPrivate, LayerError, Reading};

/// A session's private layer.
#[derive(Debug)]
pub struct Private(());

impl Private {
    /// Opens a private layer, or makes it.
    pub fn open(_folder: &Path) -> Result<Self, LayerError> {
        Err(LayerError::Unsupported)
    }

    /// The layer itself.
    pub fn tree(&self) -> &Path {
        Path::new("")
    }

    /// Brings the folders on the way to private things in line with the workspace's.
    pub fn refresh(&self, _workspace: &Path, _is_private: IsPrivate<'_>) -> Result<(), LayerError> {
        Err(LayerError::Unsupported)
    }

    /// Takes what is private out of an upper layer.
    pub fn split(
        &self,
        _upper: &Path,
        _below: &Path,
        _is_private: IsPrivate<'_>,
    ) -> Result<usize, LayerError> {
        Err(LayerError::Unsupported)
    }
}

/// An open upper layer.
#[derive(Debug)]
pub struct Upper(());

impl Upper {
    /// Opens a layer.
    pub fn open(_path: &Path) -> Result<Self, LayerError> {
        Err(LayerError::Unsupported)
    }

    /// Opens a file of the layer by its path in it.
    pub fn file(&self, _path: &[u8]) -> Result<std::fs::File, LayerError> {
        Err(LayerError::Unsupported)
    }
}

/// Makes a fresh upper and work folder.
pub fn prepare(_workspace: &Path, _upper: &Path, _work: &Path) -> Result<(), LayerError> {
    Err(LayerError::Unsupported)
}

/// What a command changed.
pub fn read(_upper: &Path, _how: Reading<'_>) -> Result<ChangeSet, LayerError> {
    Err(LayerError::Unsupported)
}

/// Removes a tree.
pub fn remove(_path: &Path) -> Result<(), LayerError> {
    Err(LayerError::Unsupported)
}

/// What is put into a layer by hand.
#[derive(Clone, Copy, Debug)]
pub enum Put<'a> {
    /// Nothing is there any more.
    Gone,
    /// A folder.
    Folder(u32),
    /// A file.
    File(&'a [u8], u32),
    /// A symbolic link.
    Symlink(&'a [u8]),
}

/// Makes a path of the workspace ready to be written in a layer.
pub fn apart(_of: (&Path, &[u8]), _upper: &Path, _work: &Path) -> Result<(), LayerError> {
    Err(LayerError::Unsupported)
}

/// Puts one thing into a layer.
pub fn put(_of: (&Path, &[u8]), _upper: &Path, _what: Put<'_>) -> Result<(), LayerError> {
    Err(LayerError::Unsupported)
}
