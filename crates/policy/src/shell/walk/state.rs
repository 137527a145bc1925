//! What is known of the shell while a line runs.

use std::collections::{BTreeMap, BTreeSet};

use tagout_vocab::limits::COMMAND_VARIABLES_MAX;

use crate::shell::arg::Value;

/// The shell's variables, functions and working directory.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::shell) struct State {
    /// Variables whose value is known to some degree; all others may hold anything.
    variables: BTreeMap<String, Value>,
    /// Functions that are defined for certain.
    pub(in crate::shell) functions: BTreeSet<String>,
    /// Variables that the line exported.
    pub(in crate::shell) exported: BTreeSet<String>,
    /// The working directory relative to the call's, or absolute; `None` when it is not known.
    pub(in crate::shell) folder: Option<String>,
    /// Variables with attributes: setting one may fail, or give it another value.
    frozen: BTreeSet<String>,
    /// Arrays with names for their elements, for certain.
    pub(in crate::shell) maps: BTreeSet<String>,
    /// Arrays whose elements are known.
    elements: BTreeMap<String, Vec<String>>,
    /// Whether words may be split otherwise than at blanks.
    pub(in crate::shell) odd_splitting: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            variables: BTreeMap::new(),
            functions: BTreeSet::new(),
            exported: BTreeSet::new(),
            folder: Some(String::new()),
            frozen: BTreeSet::new(),
            maps: BTreeSet::new(),
            elements: BTreeMap::new(),
            odd_splitting: false,
        }
    }
}

impl State {
    /// What holds inside of a function, whenever it may be called.
    pub(in crate::shell) fn inside_function(&self, name: &str) -> Self {
        let mut functions = self.functions.clone();
        functions.insert(name.to_owned());
        Self {
            variables: BTreeMap::new(),
            functions,
            exported: self.exported.clone(),
            folder: None,
            frozen: BTreeSet::new(),
            maps: BTreeSet::new(),
            elements: BTreeMap::new(),
            odd_splitting: true,
        }
    }

    pub(in crate::shell) fn get(&self, name: &str) -> Value {
        self.variables.get(name).cloned().unwrap_or(Value::Unknown)
    }

    pub(in crate::shell) fn knows(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    pub(in crate::shell) fn set(&mut self, name: String, value: Value) {
        if name == "IFS" {
            self.odd_splitting = true;
        }
        self.maps.remove(&name);
        self.elements.remove(&name);
        let value = if self.frozen.contains(&name) {
            Value::Unknown
        } else {
            value
        };
        let room = self.variables.len() < COMMAND_VARIABLES_MAX;
        if room || self.variables.contains_key(&name) {
            self.variables.insert(name, value);
        }
    }

    /// The elements of an array, if they are known.
    pub(in crate::shell) fn elements(&self, name: &str) -> Option<&[String]> {
        self.elements.get(name).map(Vec::as_slice)
    }

    /// An array was written out.
    pub(in crate::shell) fn set_elements(&mut self, name: String, elements: Vec<String>) {
        if !self.frozen.contains(&name) && self.elements.len() < COMMAND_VARIABLES_MAX {
            self.elements.insert(name, elements);
        }
    }

    /// A variable that was declared: what it is set to later may not be what it holds.
    pub(in crate::shell) fn freeze(&mut self, name: String) {
        self.frozen.insert(name);
    }

    /// Nothing is known of any variable or of the working directory any more.
    pub(in crate::shell) fn forget(&mut self) {
        for value in self.variables.values_mut() {
            *value = Value::Unknown;
        }
        self.elements.clear();
        self.maps.clear();
        self.folder = None;
    }

    /// What holds whichever of two ways was taken.
    pub(in crate::shell) fn join(&mut self, other: &Self) {
        self.join_keeping_folder(other);
        if self.folder != other.folder {
            self.folder = None;
        }
    }

    /// The same for commands joined by `&&`: that a folder which was entered exists is taken as
    /// given, since whatever is written is looked at again once it is.
    pub(in crate::shell) fn join_keeping_folder(&mut self, other: &Self) {
        for (name, value) in &mut self.variables {
            let joined = value.clone().or(&other.get(name));
            *value = joined;
        }
        for name in other.variables.keys() {
            if !self.variables.contains_key(name) {
                self.variables.insert(name.clone(), Value::Unknown);
            }
        }
        self.maps.retain(|name| other.maps.contains(name));
        self.elements
            .retain(|name, known| other.elements.get(name) == Some(known));
        self.frozen.extend(other.frozen.iter().cloned());
        self.functions.retain(|name| other.functions.contains(name));
        self.exported.extend(other.exported.iter().cloned());
        self.odd_splitting |= other.odd_splitting;
    }
}
