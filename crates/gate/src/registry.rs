//! The tools that the engine can run, each checked before it is let in.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use serde_json::Value;
use tagout_policy::catalogue::{Catalogue, Shape};
use tagout_policy::targets::lint_schema;
use tagout_vocab::limits::VIOLATIONS_MAX;
use tagout_vocab::{Declaration, Origin};
use thiserror::Error;

use crate::tool::Tool;

/// Why a tool was not let in.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum RegisterError {
    /// L2: a field of the declaration says nothing.
    #[error("the tool `{tool}` does not declare `{field}`")]
    Missing {
        /// The tool.
        tool: String,
        /// The field.
        field: &'static str,
    },
    /// L8: a schema that does not lint.
    #[error("the {which} schema of the tool `{tool}` has a flaw at `{path}`: {message}")]
    Schema {
        /// The tool.
        tool: String,
        /// Input or output.
        which: &'static str,
        /// Where in the schema.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// The catalogue does not know it.
    #[error("the catalogue does not know the tool `{tool}`; declare it in the policy first")]
    Unknown {
        /// The tool.
        tool: String,
    },
    /// The catalogue says something else.
    #[error("the tool `{tool}` contradicts the catalogue: {what}")]
    Contradicts {
        /// The tool.
        tool: String,
        /// In what.
        what: String,
    },
    /// There is one already.
    #[error("the tool `{tool}` is registered twice")]
    Twice {
        /// The tool.
        tool: String,
    },
}

/// A tool with its schemas, each compiled when it is first needed.
pub(crate) struct Entry {
    pub(crate) tool: Arc<dyn Tool>,
    input: OnceLock<Validator>,
    output: OnceLock<Validator>,
}

impl Entry {
    /// Every violation of the input schema.
    pub(crate) fn input_violations(&self, value: &Value) -> Vec<String> {
        checked(&self.input, &self.tool.declaration().input_schema, value)
    }

    /// Every violation of the output schema.
    pub(crate) fn output_violations(&self, value: &Value) -> Vec<String> {
        checked(&self.output, &self.tool.declaration().output_schema, value)
    }
}

/// Every violation of a schema. Nothing fits one that can't be compiled.
///
/// Compiling the first one costs more than all the rest of a small command, so what certainly fits
/// is not put to it.
fn checked(compiled: &OnceLock<Validator>, schema: &Value, value: &Value) -> Vec<String> {
    if let Some(known) = compiled.get() {
        return violations(known, value);
    }
    if Shape::of(schema).fits(value) {
        return Vec::new();
    }
    match compile(schema) {
        Ok(fresh) => violations(compiled.get_or_init(|| fresh), value),
        Err(error) => vec![format!("the schema has a flaw: {error}")],
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let declaration = self.tool.declaration();
        write!(
            formatter,
            "Entry({} {})",
            declaration.id, declaration.version
        )
    }
}

/// A schema that can't be compiled.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
#[error("{message}")]
pub struct SchemaError {
    /// What is wrong with it.
    pub message: String,
}

/// Compiles a schema in the dialect that it names; tools of others may still use draft-07.
pub fn compile(schema: &Value) -> Result<Validator, SchemaError> {
    jsonschema::options()
        .offline()
        .build(schema)
        .map_err(|error| SchemaError {
            message: error.masked().to_string(),
        })
}

/// Every way in which a value does not fit a schema, with the path of each.
pub fn violations(validator: &Validator, value: &Value) -> Vec<String> {
    validator
        .iter_errors(value)
        .take(VIOLATIONS_MAX)
        .map(|error| format!("{}: {}", error.instance_path(), error.masked()))
        .collect()
}

/// The tools that the engine can run, by canonical name.
#[derive(Debug, Default)]
pub struct Registry {
    catalogue: Option<Catalogue>,
    tools: BTreeMap<String, Arc<Entry>>,
}

impl Registry {
    /// An empty registry beside a catalogue.
    pub const fn new(catalogue: Catalogue) -> Self {
        Self {
            catalogue: Some(catalogue),
            tools: BTreeMap::new(),
        }
    }

    /// Lets a tool in, unless its declaration lacks something, does not lint or contradicts the
    /// catalogue.
    pub fn register(&mut self, tool: Box<dyn Tool>) -> Result<(), RegisterError> {
        let declaration = tool.declaration();
        complete(declaration)?;
        if !declaration.output_schema.is_object() {
            return Err(missing(declaration, "outputSchema"));
        }
        let input = linted(declaration, "input", &declaration.input_schema)?;
        let output = linted(declaration, "output", &declaration.output_schema)?;
        self.add(tool, (OnceLock::from(input), OnceLock::from(output)))
    }

    /// The same for a tool that comes with the program, whose tests let it in with [`register`].
    /// Its schemas are compiled by the first call that needs them, because most processes run one
    /// tool of many.
    ///
    /// [`register`]: Self::register
    pub fn register_own(&mut self, tool: Box<dyn Tool>) -> Result<(), RegisterError> {
        complete(tool.declaration())?;
        self.add(tool, (OnceLock::new(), OnceLock::new()))
    }

    fn add(
        &mut self,
        tool: Box<dyn Tool>,
        (input, output): (OnceLock<Validator>, OnceLock<Validator>),
    ) -> Result<(), RegisterError> {
        let name = self.known_as(tool.declaration())?;
        if self.tools.contains_key(&name) {
            return Err(RegisterError::Twice { tool: name });
        }
        let entry = Entry {
            tool: Arc::from(tool),
            input,
            output,
        };
        self.tools.insert(name, Arc::new(entry));
        Ok(())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.tools.get(name)
    }

    /// The tool of a canonical name.
    pub fn tool(&self, name: &str) -> Option<&dyn Tool> {
        self.tools.get(name).map(|entry| entry.tool.as_ref())
    }

    /// The declarations, by canonical name.
    pub fn declarations(&self) -> impl Iterator<Item = (&str, &Declaration)> {
        self.tools
            .iter()
            .map(|(name, entry)| (name.as_str(), entry.tool.declaration()))
    }

    /// The canonical name of a tool that the catalogue knows and does not contradict.
    fn known_as(&self, declaration: &Declaration) -> Result<String, RegisterError> {
        let tool = || declaration.id.clone();
        let known = self.catalogue.as_ref().and_then(|catalogue| {
            let native = catalogue.native_tool(&declaration.id);
            let custom = || catalogue.lookup(&Origin::Custom, &declaration.id);
            native.or_else(|| custom().map(|found| found.tool))
        });
        let known = known.ok_or_else(|| RegisterError::Unknown { tool: tool() })?;
        let contradicts = |what: String| Err(RegisterError::Contradicts { tool: tool(), what });
        let declared = &declaration.required_capabilities;
        if let Some(more) = declared
            .iter()
            .find(|one| !known.capabilities.contains(one))
        {
            return contradicts(format!(
                "it wants `{more}`, which the catalogue does not list"
            ));
        }
        if let Some(less) = known
            .capabilities
            .iter()
            .find(|one| !declared.contains(one))
        {
            return contradicts(format!("it does not declare `{less}`"));
        }
        let properties = declaration.input_schema.get("properties");
        let takes = |key: &str| {
            let first = key.split(['.', '[']).next().unwrap_or_default();
            properties.is_some_and(|properties| properties.get(first).is_some())
        };
        let keys = known
            .paths
            .iter()
            .map(|param| &param.key)
            .chain(&known.required);
        match keys.into_iter().find(|key| !takes(key)) {
            Some(key) => contradicts(format!("its input schema has no `{key}`")),
            None => Ok(known.name.clone()),
        }
    }
}

/// L2: every one of the ten fields says something.
fn complete(declaration: &Declaration) -> Result<(), RegisterError> {
    let said = |text: &str| !text.trim().is_empty();
    let version = declaration.version.split('.');
    let numbers = version.clone().count() == 3
        && version
            .take(2)
            .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty());
    let limits = declaration.resource_limits;
    let bounded = [
        limits.max_execution_time_ms,
        limits.max_memory_bytes,
        limits.max_file_size_bytes,
    ];
    let fields = [
        ("id", said(&declaration.id)),
        ("version", numbers),
        ("name", said(&declaration.name)),
        ("description", said(&declaration.description)),
        ("inputSchema", declaration.input_schema.is_object()),
        ("resourceLimits", !bounded.contains(&Some(0))),
    ];
    match fields.into_iter().find(|(_, there)| !there) {
        Some((field, _)) => Err(missing(declaration, field)),
        None => Ok(()),
    }
}

fn missing(declaration: &Declaration, field: &'static str) -> RegisterError {
    RegisterError::Missing {
        tool: declaration.id.clone(),
        field,
    }
}

fn linted(
    declaration: &Declaration,
    which: &'static str,
    schema: &Value,
) -> Result<Validator, RegisterError> {
    let refused = |path: String, message: String| RegisterError::Schema {
        tool: declaration.id.clone(),
        which,
        path,
        message,
    };
    if let Some(flaw) = lint_schema(&schema.to_string()).into_iter().next() {
        return Err(refused(flaw.path, flaw.message));
    }
    compile(schema).map_err(|error| refused(String::new(), error.message))
}
