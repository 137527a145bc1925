//! What the classifier has to know of each language: where names are bound, what opens a scope,
//! whose order means nothing.

/// One language's knowledge. Pairs are a node's kind and a field of it; an empty field means its
/// children without one.
#[derive(Debug)]
pub(super) struct Scheme {
    /// Leaves that name variables, functions and types.
    pub(super) names: &'static [&'static str],
    /// Leaves that name something by a type: fields, properties.
    pub(super) members: &'static [&'static str],
    /// Where an ordinary name is such a name.
    pub(super) member_places: &'static [(&'static str, &'static str)],
    /// Where a name is reached through a path, so that no local is meant.
    pub(super) path_places: &'static [(&'static str, &'static str)],
    /// What opens a function's scope.
    pub(super) functions: &'static [&'static str],
    /// What opens a scope within a function.
    pub(super) blocks: &'static [&'static str],
    /// Where names are bound.
    pub(super) binders: &'static [(&'static str, &'static str)],
    /// Parts of a pattern that use names instead of binding them.
    pub(super) opaque: &'static [&'static str],
    /// Whether a capital in a pattern names a constant or a variant instead of binding a name.
    pub(super) capitals_are_constants: bool,
    /// Bodies whose names are not locals.
    pub(super) classes: &'static [&'static str],
    /// How a binding comes into being.
    pub(super) binding: Binding,
    /// Imports: sorted.
    pub(super) imports: &'static [&'static str],
    /// Definitions whose order means nothing.
    pub(super) unordered: &'static [&'static str],
    /// Nodes that hold definitions.
    pub(super) containers: &'static [&'static str],
}

/// From where on a name is bound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Binding {
    /// From its declaration on; a second declaration is another variable.
    InOrder,
    /// In the whole block that declares it.
    WholeBlock,
    /// In the whole function that assigns it.
    WholeFunction,
}

/// The scheme of a language; one that knows nothing for the others.
pub(super) fn of(language: &str) -> &'static Scheme {
    match language {
        "rust" => &RUST,
        "python" => &PYTHON,
        "typescript" | "tsx" | "javascript" => &SCRIPT,
        "go" => &GO,
        "java" => &JAVA,
        "c" | "cpp" => &C,
        _ => &NONE,
    }
}

static NONE: Scheme = Scheme {
    names: &[],
    members: &[],
    member_places: &[],
    path_places: &[],
    functions: &[],
    blocks: &[],
    binders: &[],
    opaque: &[],
    capitals_are_constants: false,
    classes: &[],
    binding: Binding::InOrder,
    imports: &[],
    unordered: &[],
    containers: &[],
};

static RUST: Scheme = Scheme {
    names: &["identifier", "type_identifier"],
    members: &["field_identifier", "shorthand_field_identifier"],
    member_places: &[],
    path_places: &[
        ("scoped_identifier", "name"),
        ("scoped_type_identifier", "name"),
    ],
    functions: &["function_item", "closure_expression"],
    blocks: &[
        "block",
        "for_expression",
        "if_expression",
        "while_expression",
        "match_arm",
    ],
    binders: &[
        ("let_declaration", "pattern"),
        ("let_condition", "pattern"),
        ("parameter", "pattern"),
        ("closure_parameters", ""),
        ("for_expression", "pattern"),
        ("match_pattern", ""),
    ],
    opaque: &[
        "scoped_identifier",
        "range_pattern",
        "macro_invocation",
        "const_block",
    ],
    capitals_are_constants: true,
    classes: &["declaration_list"],
    binding: Binding::InOrder,
    imports: &["use_declaration"],
    unordered: &[
        "function_item",
        "function_signature_item",
        "struct_item",
        "enum_item",
        "union_item",
        "trait_item",
        "impl_item",
        "mod_item",
        "type_item",
        "const_item",
        "static_item",
    ],
    containers: &["source_file", "declaration_list"],
};

static PYTHON: Scheme = Scheme {
    names: &["identifier"],
    members: &[],
    member_places: &[
        ("attribute", "attribute"),
        ("keyword_argument", "name"),
        ("dotted_name", ""),
    ],
    path_places: &[],
    functions: &[
        "function_definition",
        "lambda",
        "list_comprehension",
        "set_comprehension",
        "dictionary_comprehension",
        "generator_expression",
    ],
    blocks: &[],
    binders: &[
        ("assignment", "left"),
        ("augmented_assignment", "left"),
        ("for_statement", "left"),
        ("for_in_clause", "left"),
        ("named_expression", "name"),
        ("as_pattern", "alias"),
        ("parameters", ""),
        ("lambda_parameters", ""),
        ("function_definition", "name"),
        ("class_definition", "name"),
    ],
    opaque: &["attribute", "subscript", "call"],
    capitals_are_constants: false,
    classes: &["class_definition"],
    binding: Binding::WholeFunction,
    imports: &[
        "import_statement",
        "import_from_statement",
        "future_import_statement",
    ],
    unordered: &["function_definition", "class_definition"],
    containers: &["module", "class_definition block"],
};

static SCRIPT: Scheme = Scheme {
    names: &["identifier", "type_identifier"],
    members: &["property_identifier", "private_property_identifier"],
    member_places: &[],
    path_places: &[],
    functions: &[
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "generator_function",
        "arrow_function",
        "method_definition",
    ],
    blocks: &[
        "statement_block",
        "for_statement",
        "for_in_statement",
        "catch_clause",
        "switch_body",
        "class_static_block",
    ],
    binders: &[
        ("variable_declarator", "name"),
        ("required_parameter", "pattern"),
        ("optional_parameter", "pattern"),
        ("formal_parameters", ""),
        ("arrow_function", "parameter"),
        ("catch_clause", "parameter"),
        ("for_in_statement", "left"),
        ("function_declaration", "name"),
        ("generator_function_declaration", "name"),
        ("class_declaration", "name"),
    ],
    opaque: &[
        "member_expression",
        "subscript_expression",
        "call_expression",
        "required_parameter",
        "optional_parameter",
    ],
    capitals_are_constants: false,
    classes: &["class_body"],
    binding: Binding::WholeBlock,
    imports: &["import_statement"],
    unordered: &[
        "function_declaration",
        "generator_function_declaration",
        "class_declaration",
        "abstract_class_declaration",
        "interface_declaration",
        "type_alias_declaration",
        "enum_declaration",
        "method_definition",
    ],
    containers: &["program", "class_body"],
};

static GO: Scheme = Scheme {
    names: &["identifier", "type_identifier"],
    members: &["field_identifier"],
    member_places: &[("keyed_element", "key"), ("qualified_type", "name")],
    path_places: &[],
    functions: &["function_declaration", "method_declaration", "func_literal"],
    blocks: &[
        "block",
        "if_statement",
        "for_statement",
        "expression_switch_statement",
        "type_switch_statement",
        "select_statement",
        "expression_case",
        "type_case",
        "default_case",
        "communication_case",
    ],
    binders: &[
        ("short_var_declaration", "left"),
        ("var_spec", "name"),
        ("const_spec", "name"),
        ("parameter_declaration", "name"),
        ("variadic_parameter_declaration", "name"),
        ("range_clause", "left"),
        ("receive_statement", "left"),
        ("type_switch_statement", "alias"),
    ],
    opaque: &[
        "selector_expression",
        "index_expression",
        "call_expression",
        "unary_expression",
    ],
    capitals_are_constants: false,
    classes: &[],
    binding: Binding::InOrder,
    imports: &["import_declaration"],
    unordered: &[
        "function_declaration",
        "method_declaration",
        "type_declaration",
        "const_declaration",
    ],
    containers: &["source_file"],
};

static JAVA: Scheme = Scheme {
    names: &["identifier", "type_identifier"],
    members: &[],
    member_places: &[
        ("method_invocation", "name"),
        ("field_access", "field"),
        ("method_reference", ""),
        ("scoped_identifier", "name"),
    ],
    path_places: &[],
    functions: &[
        "method_declaration",
        "constructor_declaration",
        "compact_constructor_declaration",
        "lambda_expression",
        "static_initializer",
    ],
    blocks: &[
        "block",
        "constructor_body",
        "for_statement",
        "enhanced_for_statement",
        "try_with_resources_statement",
        "catch_clause",
        "switch_block",
    ],
    binders: &[
        ("variable_declarator", "name"),
        ("formal_parameter", "name"),
        ("enhanced_for_statement", "name"),
        ("catch_formal_parameter", "name"),
        ("resource", "name"),
        ("inferred_parameters", ""),
        ("lambda_expression", "parameters"),
    ],
    opaque: &["formal_parameters", "inferred_parameters"],
    capitals_are_constants: false,
    classes: &["class_body", "enum_body", "interface_body"],
    binding: Binding::InOrder,
    imports: &["import_declaration"],
    unordered: &[
        "method_declaration",
        "constructor_declaration",
        "class_declaration",
        "interface_declaration",
        "enum_declaration",
        "record_declaration",
        "annotation_type_declaration",
    ],
    containers: &["program", "class_body", "interface_body"],
};

static C: Scheme = Scheme {
    names: &["identifier", "type_identifier"],
    members: &["field_identifier"],
    member_places: &[("qualified_identifier", "name")],
    path_places: &[],
    functions: &["function_definition", "lambda_expression"],
    blocks: &[
        "compound_statement",
        "for_statement",
        "for_range_loop",
        "catch_clause",
        "if_statement",
        "while_statement",
    ],
    binders: &[
        ("declaration", "declarator"),
        ("init_declarator", "declarator"),
        ("parameter_declaration", "declarator"),
        ("for_range_loop", "declarator"),
    ],
    opaque: &[
        "function_declarator",
        "init_declarator",
        "qualified_identifier",
    ],
    capitals_are_constants: false,
    classes: &["field_declaration_list"],
    binding: Binding::InOrder,
    imports: &[],
    unordered: &["function_definition"],
    containers: &["translation_unit"],
};
