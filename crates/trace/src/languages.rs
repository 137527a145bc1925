//! The languages: their grammars, and which nodes define something.

use tree_sitter::Language;

/// One language: its grammar, and what its defining nodes are called.
#[derive(Clone, Copy, Debug)]
pub struct Grammar {
    /// The language's name in a result.
    pub name: &'static str,
    extensions: &'static [&'static str],
    language: fn() -> Language,
    /// What stands between the names of a symbol's path.
    pub separator: &'static str,
    /// A node's kind in the grammar, and the word for it in a result.
    pub nodes: &'static [(&'static str, &'static str)],
}

impl Grammar {
    /// The grammar itself.
    pub fn language(&self) -> Language {
        (self.language)()
    }

    /// The word for a node that defines something.
    pub fn word(&self, kind: &str) -> Option<&'static str> {
        self.nodes
            .iter()
            .find(|(node, _)| *node == kind)
            .map(|(_, word)| *word)
    }
}

/// The grammar of a file, by its name's ending.
pub fn of(path: &str) -> Option<&'static Grammar> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (_, extension) = name.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    GRAMMARS
        .iter()
        .find(|grammar| grammar.extensions.contains(&extension.as_str()))
}

const SCRIPT: &[(&str, &str)] = &[
    ("function_declaration", "function"),
    ("generator_function_declaration", "function"),
    ("class_declaration", "class"),
    ("method_definition", "method"),
];

const TYPED_SCRIPT: &[(&str, &str)] = &[
    ("function_declaration", "function"),
    ("generator_function_declaration", "function"),
    ("function_signature", "function"),
    ("class_declaration", "class"),
    ("abstract_class_declaration", "class"),
    ("method_definition", "method"),
    ("abstract_method_signature", "method"),
    ("interface_declaration", "interface"),
    ("type_alias_declaration", "type"),
    ("enum_declaration", "enum"),
    ("internal_module", "namespace"),
];

const GRAMMARS: &[Grammar] = &[
    Grammar {
        name: "rust",
        separator: "::",
        extensions: &["rs"],
        language: || tree_sitter_rust::LANGUAGE.into(),
        nodes: &[
            ("function_item", "function"),
            ("function_signature_item", "function"),
            ("struct_item", "struct"),
            ("enum_item", "enum"),
            ("union_item", "union"),
            ("trait_item", "trait"),
            ("impl_item", "impl"),
            ("mod_item", "module"),
            ("type_item", "type"),
            ("const_item", "constant"),
            ("static_item", "static"),
            ("macro_definition", "macro"),
        ],
    },
    Grammar {
        name: "python",
        separator: ".",
        extensions: &["py", "pyi"],
        language: || tree_sitter_python::LANGUAGE.into(),
        nodes: &[
            ("function_definition", "function"),
            ("class_definition", "class"),
        ],
    },
    Grammar {
        name: "typescript",
        separator: ".",
        extensions: &["ts", "mts", "cts"],
        language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        nodes: TYPED_SCRIPT,
    },
    Grammar {
        name: "tsx",
        separator: ".",
        extensions: &["tsx"],
        language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
        nodes: TYPED_SCRIPT,
    },
    Grammar {
        name: "javascript",
        separator: ".",
        extensions: &["js", "jsx", "mjs", "cjs"],
        language: || tree_sitter_javascript::LANGUAGE.into(),
        nodes: SCRIPT,
    },
    Grammar {
        name: "go",
        separator: ".",
        extensions: &["go"],
        language: || tree_sitter_go::LANGUAGE.into(),
        nodes: &[
            ("function_declaration", "function"),
            ("method_declaration", "method"),
            ("type_spec", "type"),
            ("type_alias", "type"),
        ],
    },
    Grammar {
        name: "java",
        separator: ".",
        extensions: &["java"],
        language: || tree_sitter_java::LANGUAGE.into(),
        nodes: &[
            ("class_declaration", "class"),
            ("interface_declaration", "interface"),
            ("enum_declaration", "enum"),
            ("record_declaration", "record"),
            ("annotation_type_declaration", "annotation"),
            ("method_declaration", "method"),
            ("constructor_declaration", "constructor"),
        ],
    },
    Grammar {
        name: "c",
        separator: ".",
        extensions: &["c", "h"],
        language: || tree_sitter_c::LANGUAGE.into(),
        nodes: &[
            ("function_definition", "function"),
            ("struct_specifier", "struct"),
            ("union_specifier", "union"),
            ("enum_specifier", "enum"),
            ("type_definition", "type"),
        ],
    },
    Grammar {
        name: "cpp",
        separator: "::",
        extensions: &["cc", "cpp", "cxx", "hh", "hpp", "hxx"],
        language: || tree_sitter_cpp::LANGUAGE.into(),
        nodes: &[
            ("function_definition", "function"),
            ("class_specifier", "class"),
            ("struct_specifier", "struct"),
            ("union_specifier", "union"),
            ("enum_specifier", "enum"),
            ("namespace_definition", "namespace"),
            ("type_definition", "type"),
            ("alias_declaration", "type"),
        ],
    },
    Grammar {
        name: "bash",
        separator: ".",
        extensions: &["sh", "bash"],
        language: || tree_sitter_bash::LANGUAGE.into(),
        nodes: &[("function_definition", "function")],
    },
];
