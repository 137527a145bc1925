//! Undoes extraction: puts private functions and constants back to where they are used, so that
//! both texts can be compared in that form.

use std::collections::{HashMap, HashSet};

use tagout_vocab::limits::INLINE_ROUNDS_MAX;

use super::helper::{Helper, is_mark};
use super::surface::Names;
use crate::shape::{Shape, Word};

/// Puts what these names define back to where it is used; says whether it did. What can't be put
/// back stays.
pub(super) fn inline(root: &mut Shape<'_>, names: &Names) -> bool {
    let mut changed = inline_constants(root, names);
    let mut skipped = HashSet::new();
    for _ in 0..INLINE_ROUNDS_MAX {
        let Some(helper) = find(root, names, &skipped) else {
            break;
        };
        let mut tried = root.clone();
        remove(&mut tried, &helper.name);
        let mut inliner = Inliner {
            next: highest(root).saturating_add(1),
            helper: &helper,
        };
        inliner.visit(&mut tried);
        // A use that remains needs the definition.
        if mentions(&tried, &helper.name) {
            skipped.insert(helper.name);
        } else {
            *root = tried;
            changed = true;
        }
    }
    changed
}

fn highest(shape: &Shape<'_>) -> u32 {
    let own = match &shape.word {
        Some(Word::Local(local) | Word::Binder(local, _)) => *local,
        Some(Word::Text(_) | Word::Free(_) | Word::Member(_)) | None => 0,
    };
    shape.children.iter().map(highest).fold(own, u32::max)
}

fn mentions(shape: &Shape<'_>, name: &str) -> bool {
    let own = matches!(&shape.word, Some(Word::Free(text) | Word::Member(text)) if text == name);
    own || shape.children.iter().any(|child| mentions(child, name))
}

/// A function of one of these names that can be put back.
fn find<'k>(shape: &Shape<'k>, names: &Names, skipped: &HashSet<String>) -> Option<Helper<'k>> {
    shape.children.iter().find_map(|child| {
        let is_function = matches!(
            child.kind,
            "function_item"
                | "function_definition"
                | "function_declaration"
                | "method_declaration"
                | "method_definition"
        );
        let name = child.child("name").and_then(Shape::text);
        match name.filter(|name| is_function && names.has(name) && !skipped.contains(*name)) {
            Some(_) => Helper::of(child),
            None if is_function => None,
            None => find(child, names, skipped),
        }
    })
}

/// Takes a definition away.
fn remove(shape: &mut Shape<'_>, name: &str) {
    let is_it = |child: &Shape<'_>| {
        child.child("body").is_some() && child.child("name").and_then(Shape::text) == Some(name)
    };
    shape.children.retain(|child| !is_it(child));
    for child in &mut shape.children {
        remove(child, name);
    }
}

struct Inliner<'h, 'k> {
    helper: &'h Helper<'k>,
    next: u32,
}

impl<'k> Inliner<'_, 'k> {
    fn visit(&mut self, shape: &mut Shape<'k>) {
        for child in &mut shape.children {
            self.visit(child);
        }
        if self.helper.body.is_empty() {
            self.replace_values(shape);
        } else {
            self.splice(shape);
        }
    }

    /// A function that only computes stands for its value.
    fn replace_values(&mut self, shape: &mut Shape<'k>) {
        for child in &mut shape.children {
            if let Some((_, Some(mut value))) = self.call(child) {
                value.field = child.field;
                *child = value;
            }
        }
    }

    /// A call that is a statement, or all that a statement computes, makes room for the body.
    fn splice(&mut self, shape: &mut Shape<'k>) {
        let mut children = Vec::with_capacity(shape.children.len());
        for mut child in std::mem::take(&mut shape.children) {
            match self.spliced(&mut child) {
                Some((statements, keeps)) => {
                    children.extend(statements);
                    if keeps {
                        children.push(child);
                    }
                }
                None => children.push(child),
            }
        }
        shape.children = children;
    }

    fn spliced(&mut self, statement: &mut Shape<'k>) -> Option<(Vec<Shape<'k>>, bool)> {
        let place = computed(statement)?;
        let (body, result) = self.call(place)?;
        match result {
            Some(mut value) => {
                value.field = place.field;
                *place = value;
                Some((body, true))
            }
            None if statement.kind == "expression_statement" => Some((body, false)),
            None => None,
        }
    }

    /// The body and the value that a call of the helper stands for.
    fn call(&mut self, shape: &Shape<'k>) -> Option<(Vec<Shape<'k>>, Option<Shape<'k>>)> {
        let (name, receiver) = callee(shape)?;
        if name != self.helper.name {
            return None;
        }
        let list = shape.child("arguments")?;
        let given = list.children.iter().filter(|one| !is_mark(one));
        let mut arguments: Vec<&Shape<'k>> = given.collect();
        match receiver {
            // Without a written receiver both bodies mean the same object.
            Some(receiver)
                if is_own(receiver) && self.helper.parameters.len() == arguments.len() => {}
            Some(receiver) => arguments.insert(0, receiver),
            None if self.helper.takes_receiver => return None,
            None => {}
        }
        let fits = arguments.len() == self.helper.parameters.len();
        if !fits || !arguments.iter().all(|one| is_simple(one)) {
            return None;
        }
        let parameters = self.helper.parameters.iter().copied();
        let given: HashMap<u32, &Shape<'k>> = parameters.zip(arguments).collect();
        let mut fresh = HashMap::new();
        let helper = self.helper;
        let mut copy = |shape: &Shape<'k>| self.copy(shape, &given, &mut fresh);
        let body = helper.body.iter().map(&mut copy).collect();
        let result = helper.result.as_ref().map(&mut copy);
        Some((body, result))
    }

    fn copy(
        &mut self,
        shape: &Shape<'k>,
        given: &HashMap<u32, &Shape<'k>>,
        fresh: &mut HashMap<u32, u32>,
    ) -> Shape<'k> {
        let local = match &shape.word {
            Some(Word::Local(local) | Word::Binder(local, _)) => Some(*local),
            Some(Word::Text(_) | Word::Free(_) | Word::Member(_)) | None => None,
        };
        if let Some(argument) = local.and_then(|local| given.get(&local)) {
            let mut argument = (*argument).clone();
            argument.field = shape.field;
            return argument;
        }
        let mut renumber = |local: u32| {
            let next = &mut self.next;
            *fresh.entry(local).or_insert_with(|| {
                *next = next.saturating_add(1);
                *next
            })
        };
        let word = shape.word.clone().map(|word| match word {
            Word::Local(local) => Word::Local(renumber(local)),
            Word::Binder(local, name) => Word::Binder(renumber(local), name),
            other @ (Word::Text(_) | Word::Free(_) | Word::Member(_)) => other,
        });
        let children = shape.children.iter();
        Shape {
            kind: shape.kind,
            field: shape.field,
            word,
            children: children.map(|one| self.copy(one, given, fresh)).collect(),
        }
    }
}

/// What a statement computes before it does anything else.
fn computed<'a, 'k>(statement: &'a mut Shape<'k>) -> Option<&'a mut Shape<'k>> {
    if callee(statement).is_some() {
        return Some(statement);
    }
    let goes_on = matches!(
        statement.kind,
        "expression_statement"
            | "return_statement"
            | "let_declaration"
            | "lexical_declaration"
            | "variable_declaration"
            | "variable_declarator"
            | "local_variable_declaration"
            | "short_var_declaration"
            | "expression_list"
            | "assignment"
            | "declaration"
            | "init_declarator"
    );
    if !goes_on {
        return None;
    }
    let last = statement.children.iter().rposition(|one| !is_mark(one))?;
    computed(statement.children.get_mut(last)?)
}

/// The name that a call calls, and on what.
fn callee<'a, 'k>(shape: &'a Shape<'k>) -> Option<(&'a str, Option<&'a Shape<'k>>)> {
    let (called, receiver) = match shape.kind {
        "method_invocation" => (shape.child("name")?, shape.child("object")),
        "call_expression" | "call" => {
            let function = shape.child("function")?;
            match function.children.as_slice() {
                [] => (function, None),
                [receiver, .., member] => (member, Some(receiver)),
                [_] => return None,
            }
        }
        _ => return None,
    };
    match &called.word {
        Some(Word::Free(name) | Word::Member(name)) => Some((name, receiver)),
        Some(Word::Text(_) | Word::Local(_) | Word::Binder(..)) | None => None,
    }
}

/// Whether a receiver is the object or the type that the caller belongs to.
fn is_own(receiver: &Shape<'_>) -> bool {
    matches!(receiver.kind, "self" | "this") || receiver.text() == Some("Self")
}

/// Whether computing it twice, later or never makes no difference.
fn is_simple(shape: &Shape<'_>) -> bool {
    let is_way = matches!(
        shape.kind,
        "reference_expression"
            | "field_expression"
            | "member_expression"
            | "attribute"
            | "selector_expression"
            | "field_access"
    );
    shape.word.is_some() || (is_way && shape.children.iter().all(is_simple))
}

fn inline_constants(root: &mut Shape<'_>, names: &Names) -> bool {
    let mut values = HashMap::new();
    root.children.retain(|child| match constant(child) {
        Some((name, value)) if names.has(name) => {
            values.insert(name.to_owned(), value.clone());
            false
        }
        _ => true,
    });
    if values.is_empty() {
        return false;
    }
    put(root, &values);
    true
}

/// A definition that gives a literal a name.
fn constant<'a, 'k>(item: &'a Shape<'k>) -> Option<(&'a str, &'a Shape<'k>)> {
    let inner = match item.kind {
        "const_item" => item,
        "lexical_declaration" | "const_declaration" | "expression_statement" => {
            let mut parts = item.children.iter().filter(|one| !is_mark(one));
            let only = parts.next()?;
            if parts.next().is_some() {
                return None;
            }
            only
        }
        _ => return None,
    };
    let name = inner.child("name").or_else(|| inner.child("left"))?;
    let mut value = inner.child("value").or_else(|| inner.child("right"))?;
    if let [only] = value.children.as_slice()
        && value.kind == "expression_list"
    {
        value = only;
    }
    let is_literal = matches!(&value.word, Some(Word::Text(_)));
    is_literal.then_some(())?;
    Some((name.text()?, value))
}

fn put<'k>(shape: &mut Shape<'k>, values: &HashMap<String, Shape<'k>>) {
    if let Some(Word::Free(name)) = &shape.word
        && let Some(value) = values.get(name)
    {
        let field = shape.field;
        *shape = value.clone();
        shape.field = field;
        return;
    }
    for child in &mut shape.children {
        put(child, values);
    }
}
