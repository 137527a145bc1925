//! A function that could stand where it is called.

use crate::shape::{Shape, Word};

/// What is left of a function when its head is taken away.
#[derive(Debug)]
pub(super) struct Helper<'k> {
    pub(super) name: String,
    /// The locals that take the arguments; a receiver that is written out comes first.
    pub(super) parameters: Vec<u32>,
    /// Whether the first of them is the receiver.
    pub(super) takes_receiver: bool,
    /// The statements before the result.
    pub(super) body: Vec<Shape<'k>>,
    /// What it returns.
    pub(super) result: Option<Shape<'k>>,
}

impl<'k> Helper<'k> {
    /// The helper that a definition could be; `None` if putting it back could change something.
    pub(super) fn of(definition: &Shape<'k>) -> Option<Self> {
        let name = definition.child("name")?.text()?.to_owned();
        let body = definition.child("body")?;
        let is_plain = definition.children.iter().all(|child| {
            !matches!(
                child.kind,
                "function_modifiers" | "async" | "*" | "type_parameters" | "throws"
            )
        });
        if !is_plain {
            return None;
        }
        let mut parameters = Vec::new();
        let receiver = definition.child("receiver");
        let takes_receiver = receiver.is_some();
        for list in receiver.into_iter().chain(definition.child("parameters")) {
            for parameter in &list.children {
                gather(parameter, &mut parameters)?;
            }
        }
        let mut statements = Vec::new();
        flatten(body, &mut statements);
        let result = match statements.last() {
            Some(last) if last.kind == "return_statement" => {
                let value = last.children.iter().find(|one| !is_mark(one)).cloned();
                statements.pop();
                Some(value?)
            }
            Some(last) if is_tail(last) => statements.pop(),
            _ => None,
        };
        let helper = Self {
            name,
            parameters,
            takes_receiver,
            body: statements,
            result,
        };
        helper.is_safe().then_some(helper)
    }

    fn is_safe(&self) -> bool {
        self.body
            .iter()
            .chain(&self.result)
            .all(|shape| self.is_safe_in(shape))
    }

    fn is_safe_in(&self, shape: &Shape<'k>) -> bool {
        // Leaving early, waiting and deferring mean something else in another function.
        let leaves = matches!(
            shape.kind,
            "return_statement"
                | "return_expression"
                | "try_expression"
                | "yield"
                | "yield_expression"
                | "await"
                | "await_expression"
                | "defer_statement"
                | "throw_statement"
        );
        let calls_itself = matches!(&shape.word,
            Some(Word::Free(text) | Word::Member(text)) if *text == self.name);
        let assigns = (shape.kind.contains("assignment") || shape.kind.contains("update"))
            && shape.children.iter().any(|child| {
                matches!(&child.word, Some(Word::Local(local) | Word::Binder(local, _))
                    if self.parameters.contains(local) && child.field != Some("right"))
            });
        !leaves && !calls_itself && !assigns && shape.children.iter().all(|c| self.is_safe_in(c))
    }
}

/// The one name that a parameter binds; `None` if it binds several or takes a default.
fn gather(parameter: &Shape<'_>, found: &mut Vec<u32>) -> Option<()> {
    if is_mark(parameter) || parameter.kind == "self_parameter" {
        return Some(());
    }
    let before = found.len();
    binders(parameter, found);
    let has_default = parameter.child("value").is_some();
    (found.len() == before + 1 && !has_default).then_some(())
}

fn binders(shape: &Shape<'_>, found: &mut Vec<u32>) {
    if let Some(Word::Binder(local, _)) = &shape.word {
        found.push(*local);
    }
    for child in &shape.children {
        binders(child, found);
    }
}

/// Whether a node is punctuation or a keyword.
pub(super) fn is_mark(shape: &Shape<'_>) -> bool {
    matches!(&shape.word, Some(Word::Text(_))) && shape.text() == Some(shape.kind)
}

fn flatten<'k>(body: &Shape<'k>, statements: &mut Vec<Shape<'k>>) {
    for child in &body.children {
        if child.kind == "statement_list" {
            flatten(child, statements);
        } else if !is_mark(child) {
            statements.push(child.clone());
        }
    }
}

/// An expression at the end of a block, where blocks have values.
fn is_tail(shape: &Shape<'_>) -> bool {
    !(shape.kind.ends_with("_statement")
        || shape.kind.ends_with("_declaration")
        || shape.kind.ends_with("_item")
        || shape.kind == "declaration"
        || shape.kind.ends_with("_definition"))
}
