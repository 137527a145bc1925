//! Which use of a name belongs to which local, so that two texts can be compared without the
//! locals' names.

use std::collections::{HashMap, HashSet};

use super::scheme::{Binding, Scheme};
use crate::shape::{Shape, Word};

/// Turns the written names of a tree into locals, members and free names.
pub(super) fn resolve(scheme: &'static Scheme, root: &mut Shape<'_>) {
    let mut resolver = Resolver {
        scheme,
        scopes: Vec::new(),
        next: 0,
        in_class: false,
        keeps_parameters: false,
    };
    resolver.visit(root, "");
}

#[derive(Default)]
struct Scope {
    names: HashMap<String, u32>,
    is_function: bool,
    /// Names that the function says are bound elsewhere.
    elsewhere: HashSet<String>,
}

struct Resolver {
    scheme: &'static Scheme,
    scopes: Vec<Scope>,
    next: u32,
    in_class: bool,
    /// Whether callers know the names of the parameters being bound.
    keeps_parameters: bool,
}

/// What a binding place asks for.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Manner {
    /// A new variable.
    New,
    /// A variable of the whole function.
    Function,
    /// A new variable unless this very scope has one of the name.
    Reuse,
}

impl Resolver {
    fn visit(&mut self, shape: &mut Shape<'_>, parent: &str) {
        if shape.word.is_some() {
            self.name(shape, parent);
            return;
        }
        let kind = shape.kind;
        let place = (parent, shape.field.unwrap_or_default());
        // A key that is one word may name a field; only its value is sure to be a variable.
        if let [only] = shape.children.as_mut_slice()
            && self.is_member_place(place)
            && let Some(Word::Text(text)) = &only.word
            && self.scheme.names.contains(&only.kind)
        {
            only.word = Some(Word::Member(text.clone()));
            return;
        }
        let is_function = self.scheme.functions.contains(&kind);
        let was_in_class = self.in_class;
        let kept = self.keeps_parameters;
        // A function's own name belongs to what is around it.
        if is_function && let Some(name) = field_mut(shape, "name") {
            self.visit_name_of_function(name, kind);
        }
        if is_function {
            self.keeps_parameters = self.scopes.is_empty()
                && self.scheme.binding == Binding::WholeFunction
                && shape.child("name").is_some_and(is_public_word);
            self.in_class = false;
        } else if self.scheme.classes.contains(&kind) {
            self.in_class = true;
        }
        // Where names are bound in order, a function's parameters and its body share a scope.
        let is_body =
            self.scheme.binding == Binding::InOrder && self.scheme.functions.contains(&parent);
        let opens = is_function || (self.scheme.blocks.contains(&kind) && !is_body);
        if opens {
            self.open(shape, is_function);
        }
        self.visit_children(shape, parent, is_function);
        if opens {
            self.scopes.pop();
        }
        self.in_class = was_in_class;
        self.keeps_parameters = kept;
    }

    fn visit_children(&mut self, shape: &mut Shape<'_>, parent: &str, is_function: bool) {
        let kind = shape.kind;
        let binds = |child: &Shape<'_>| {
            let field = child.field.unwrap_or_default();
            self.scheme.binders.contains(&(kind, field)) && !is_punctuation(child)
        };
        let places: Vec<bool> = shape.children.iter().map(binds).collect();
        let binds_something = places.contains(&true) && is_declaration(shape);
        // What a name is given is computed before the name is bound.
        if binds_something {
            for child in &mut shape.children {
                if is_value(child) {
                    self.visit(child, kind);
                }
            }
        }
        if kind == "token_tree" {
            mark_members(shape);
        }
        let manner = manner(shape, parent);
        for (child, is_binder) in shape.children.iter_mut().zip(places) {
            if is_function && child.field == Some("name") {
                continue;
            }
            if is_binder && binds_something {
                self.bind(child, kind, manner);
            } else if !(binds_something && is_value(child)) {
                self.visit(child, kind);
            }
        }
    }

    fn visit_name_of_function(&mut self, name: &mut Shape<'_>, kind: &str) {
        let is_binder = self.scheme.binders.contains(&(kind, "name"));
        if is_binder {
            self.bind(name, kind, Manner::Reuse);
        } else {
            self.visit(name, kind);
        }
    }

    fn open(&mut self, shape: &Shape<'_>, is_function: bool) {
        let mut scope = Scope {
            is_function,
            ..Scope::default()
        };
        let mut found = Vec::new();
        match self.scheme.binding {
            Binding::InOrder => {}
            Binding::WholeFunction => {
                gather_function(self.scheme, shape, &mut found, &mut scope.elsewhere, true);
            }
            Binding::WholeBlock => {
                gather_block(self.scheme, shape, &mut found);
                if is_function {
                    gather_vars(self.scheme, shape, &mut found, true);
                }
            }
        }
        for name in found {
            if !scope.elsewhere.contains(&name) && !scope.names.contains_key(&name) {
                scope.names.insert(name, self.next);
                self.next = self.next.saturating_add(1);
            }
        }
        self.scopes.push(scope);
    }

    fn name(&self, shape: &mut Shape<'_>, parent: &str) {
        let Some(Word::Text(text)) = &shape.word else {
            return;
        };
        let place = (parent, shape.field.unwrap_or_default());
        if self.scheme.members.contains(&shape.kind)
            || (self.scheme.names.contains(&shape.kind) && self.is_member_place(place))
        {
            shape.word = Some(Word::Member(text.clone()));
        } else if self.scheme.path_places.contains(&place) {
            shape.word = Some(Word::Free(text.clone()));
        } else if self.scheme.names.contains(&shape.kind) {
            shape.word = Some(match self.lookup(text) {
                Some(local) => Word::Local(local),
                None => Word::Free(text.clone()),
            });
        }
    }

    fn is_member_place(&self, place: (&str, &str)) -> bool {
        self.scheme.member_places.contains(&place)
    }

    fn lookup(&self, name: &str) -> Option<u32> {
        self.scopes
            .iter()
            .rev()
            .find_map(|scope| scope.names.get(name).copied())
    }

    fn bind(&mut self, shape: &mut Shape<'_>, parent: &str, manner: Manner) {
        let mut here = HashMap::new();
        self.bind_in(shape, parent, manner, &mut here);
    }

    fn bind_in(
        &mut self,
        shape: &mut Shape<'_>,
        parent: &str,
        manner: Manner,
        here: &mut HashMap<String, u32>,
    ) {
        if shape.word.is_some() {
            self.bind_word(shape, parent, manner, here);
            return;
        }
        if self.scheme.opaque.contains(&shape.kind) {
            self.visit(shape, parent);
            return;
        }
        let kind = shape.kind;
        for child in &mut shape.children {
            let binds = match child.field.unwrap_or_default() {
                "type" | "right" | "key" | "condition" | "default" | "size" => false,
                "value" => kind == "pair_pattern",
                "name" => kind != "field_pattern",
                _ => true,
            };
            if binds {
                self.bind_in(child, kind, manner, here);
            } else {
                self.visit(child, kind);
            }
        }
    }

    fn bind_word(
        &mut self,
        shape: &mut Shape<'_>,
        parent: &str,
        manner: Manner,
        here: &mut HashMap<String, u32>,
    ) {
        let Some(Word::Text(text)) = &shape.word else {
            return;
        };
        let text = text.clone();
        let is_variable =
            self.scheme.names.contains(&shape.kind) && shape.kind != "type_identifier";
        let is_constant =
            self.scheme.capitals_are_constants && text.starts_with(char::is_uppercase);
        let is_local = self.place(manner).is_some() && !self.in_class;
        let is_elsewhere = self
            .scopes
            .last()
            .is_some_and(|scope| scope.elsewhere.contains(&text));
        if !is_variable || is_constant || !is_local || is_elsewhere || text == "_" {
            self.name(shape, parent);
            return;
        }
        let known = self.place(manner).and_then(|at| {
            let scope = self.scopes.get(at)?;
            scope.names.get(&text).copied()
        });
        if manner == Manner::Reuse
            && self.scheme.binding == Binding::InOrder
            && let Some(known) = known
        {
            shape.word = Some(Word::Local(known));
            return;
        }
        let known = known.filter(|_| self.scheme.binding != Binding::InOrder);
        let local = known
            .or_else(|| here.get(&text).copied())
            .unwrap_or_else(|| {
                let fresh = self.next;
                self.next = self.next.saturating_add(1);
                fresh
            });
        here.insert(text.clone(), local);
        if let Some(scope) = self.place(manner).and_then(|at| self.scopes.get_mut(at)) {
            scope.names.insert(text.clone(), local);
        }
        let keeps = self.keeps_parameters
            && matches!(
                parent,
                "parameters" | "default_parameter" | "typed_parameter" | "typed_default_parameter"
            );
        shape.word = Some(Word::Binder(local, keeps.then_some(text)));
    }

    /// The scope that a binding goes to.
    fn place(&self, manner: Manner) -> Option<usize> {
        match manner {
            Manner::New | Manner::Reuse => self.scopes.len().checked_sub(1),
            Manner::Function => self.scopes.iter().rposition(|scope| scope.is_function),
        }
    }
}

fn field_mut<'a, 'k>(shape: &'a mut Shape<'k>, field: &str) -> Option<&'a mut Shape<'k>> {
    shape
        .children
        .iter_mut()
        .find(|child| child.field == Some(field))
}

fn is_value(child: &Shape<'_>) -> bool {
    matches!(child.field, Some("value" | "right"))
}

fn is_punctuation(child: &Shape<'_>) -> bool {
    child
        .text()
        .is_some_and(|text| !text.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Some places bind only with the right word in them.
fn is_declaration(shape: &Shape<'_>) -> bool {
    let has = |text: &str| shape.children.iter().any(|one| one.text() == Some(text));
    match shape.kind {
        "for_in_statement" => shape.child("kind").is_some(),
        "range_clause" | "receive_statement" => has(":="),
        _ => true,
    }
}

/// In a macro's tokens a name after a dot is a member, as elsewhere.
fn mark_members(shape: &mut Shape<'_>) {
    let mut is_after_dot = false;
    for child in &mut shape.children {
        if let Some(Word::Text(text)) = &child.word
            && is_after_dot
            && child.kind == "identifier"
        {
            child.word = Some(Word::Member(text.clone()));
        }
        is_after_dot = matches!(child.text(), Some("." | "::"));
    }
}

fn manner(shape: &Shape<'_>, parent: &str) -> Manner {
    let is_var = |one: &Shape<'_>| one.text() == Some("var");
    match shape.kind {
        "short_var_declaration" | "range_clause" | "receive_statement" => Manner::Reuse,
        "variable_declarator" if parent == "variable_declaration" => Manner::Function,
        "for_in_statement" if shape.child("kind").is_some_and(is_var) => Manner::Function,
        _ => Manner::New,
    }
}

fn is_public_word(name: &Shape<'_>) -> bool {
    // A function that is not local keeps its name as a free one.
    match &name.word {
        Some(Word::Free(text) | Word::Text(text)) => !is_private_word(text),
        Some(Word::Member(_) | Word::Local(_) | Word::Binder(..)) | None => false,
    }
}

/// Python's way to say that a name is nobody else's.
pub(super) fn is_private_word(name: &str) -> bool {
    name.starts_with('_') && !(name.starts_with("__") && name.ends_with("__"))
}

/// The names that a pattern binds.
fn pattern_names(scheme: &Scheme, shape: &Shape<'_>, found: &mut Vec<String>) {
    if let Some(Word::Text(text)) = &shape.word {
        if scheme.names.contains(&shape.kind) && text != "_" {
            found.push(text.clone());
        }
        return;
    }
    if scheme.opaque.contains(&shape.kind) {
        return;
    }
    for child in &shape.children {
        let binds = match child.field.unwrap_or_default() {
            "type" | "right" | "key" | "default" => false,
            "value" => shape.kind == "pair_pattern",
            _ => true,
        };
        if binds {
            pattern_names(scheme, child, found);
        }
    }
}

/// Every name that a function assigns, without those of the functions in it.
fn gather_function(
    scheme: &Scheme,
    shape: &Shape<'_>,
    found: &mut Vec<String>,
    elsewhere: &mut HashSet<String>,
    is_top: bool,
) {
    if matches!(shape.kind, "global_statement" | "nonlocal_statement") {
        let names = shape.children.iter().filter(|one| one.kind == "identifier");
        elsewhere.extend(names.filter_map(|one| one.text().map(str::to_owned)));
        return;
    }
    let is_inner = !is_top && scheme.functions.contains(&shape.kind);
    let is_class = scheme.classes.contains(&shape.kind);
    for child in &shape.children {
        let field = child.field.unwrap_or_default();
        let is_own_name = is_top && field == "name";
        if scheme.binders.contains(&(shape.kind, field))
            && !is_own_name
            && (!is_inner || field == "name")
            && !is_punctuation(child)
        {
            pattern_names(scheme, child, found);
        }
        if !is_inner && !is_class {
            gather_function(scheme, child, found, elsewhere, false);
        }
    }
}

/// The names that a block's own statements declare.
fn gather_block(scheme: &Scheme, shape: &Shape<'_>, found: &mut Vec<String>) {
    for child in &shape.children {
        match child.kind {
            "lexical_declaration" => {
                let declarators = child.children.iter();
                for one in declarators.filter_map(|one| one.child("name")) {
                    pattern_names(scheme, one, found);
                }
            }
            "function_declaration" | "generator_function_declaration" | "class_declaration" => {
                if let Some(name) = child.child("name") {
                    pattern_names(scheme, name, found);
                }
            }
            _ => {}
        }
    }
}

/// The names that a function declares for the whole of it.
fn gather_vars(scheme: &Scheme, shape: &Shape<'_>, found: &mut Vec<String>, is_top: bool) {
    if !is_top && scheme.functions.contains(&shape.kind) {
        return;
    }
    if shape.kind == "variable_declaration" {
        let declarators = shape.children.iter();
        for one in declarators.filter_map(|one| one.child("name")) {
            pattern_names(scheme, one, found);
        }
    }
    for child in &shape.children {
        gather_vars(scheme, child, found, false);
    }
}
