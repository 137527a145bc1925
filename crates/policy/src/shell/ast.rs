//! The tree of a command line: only what decides which programs run with which words.

use std::cell::RefCell;
use std::rc::Rc;

/// Commands one after the other.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) items: Vec<AndOr>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(super) struct AndOr {
    pub(super) first: Pipeline,
    pub(super) rest: Vec<(Join, Pipeline)>,
    pub(super) background: bool,
}

/// What joins two pipelines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Join {
    And,
    Or,
}

/// Commands joined by `|` or `|&`.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) commands: Vec<Command>,
}

/// One command with its redirections.
#[derive(Debug)]
pub(super) struct Command {
    /// The command as it was written, for people.
    pub(super) text: String,
    pub(super) kind: Kind,
    pub(super) redirects: Vec<Redirect>,
}

/// The kinds of commands that the grammar knows.
#[derive(Debug)]
pub(super) enum Kind {
    Simple {
        assigns: Vec<Assign>,
        words: Vec<Word>,
    },
    Subshell(List),
    Group(List),
    If {
        branches: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    Loop {
        condition: List,
        body: List,
    },
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: List,
    },
    Count {
        parts: Vec<Vec<Piece>>,
        body: List,
    },
    Case {
        word: Word,
        arms: Vec<(Vec<Word>, List)>,
    },
    Function {
        name: String,
        body: Box<Command>,
    },
    Arithmetic(Vec<Piece>),
    Test(Vec<Word>),
    Coprocess(Box<Command>),
}

/// `NAME=value`, `NAME[subscript]=value`, `NAME=(…)`, with `+=` as well.
#[derive(Debug)]
pub(super) struct Assign {
    pub(super) name: String,
    pub(super) subscript: Option<Vec<Piece>>,
    pub(super) append: bool,
    pub(super) value: AssignValue,
}

/// The right side of an assignment.
#[derive(Debug)]
pub(super) enum AssignValue {
    Scalar(Word),
    Array(Vec<Word>),
}

/// One redirection.
#[derive(Debug)]
pub(super) enum Redirect {
    Read {
        word: Word,
        into: Descriptor,
    },
    /// `>`, `>>`, `>|`, `<>`, `&>`, `&>>`: the target is created or changed.
    Write(Word),
    /// `>&` and `<&`: a descriptor, or a file when the word is none.
    Duplicate {
        word: Word,
        output: bool,
        into: Descriptor,
    },
    HereString(Word),
    /// Filled when the parser reaches the end of the line that holds the operator.
    HereDocument(Rc<RefCell<Vec<Piece>>>),
}

/// The descriptor that a redirection is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Descriptor {
    /// The operator's own: standard input or standard output.
    Usual,
    /// The one with this number, as it was written.
    Number(String),
    /// A new one, whose number goes into this variable.
    Named(String),
}

/// A word before expansion.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) pieces: Vec<Piece>,
}

/// A piece of a word.
#[derive(Debug)]
pub(super) enum Piece {
    /// Unquoted text, which braces, tildes and globs may still change.
    Text(String),
    /// Text that nothing changes any more.
    Quoted(String),
    Param {
        param: Param,
        quoted: bool,
    },
    Command {
        list: List,
        quoted: bool,
    },
    Arithmetic {
        pieces: Vec<Piece>,
        quoted: bool,
    },
    Process(List),
}

/// A parameter expansion.
#[derive(Debug)]
pub(super) struct Param {
    pub(super) name: String,
    pub(super) subscript: Option<Vec<Piece>>,
    pub(super) form: ParamForm,
    pub(super) operand: Vec<Piece>,
}

/// What an expansion does with its parameter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ParamForm {
    Plain,
    Length,
    Indirect,
    /// `${!name@}`, `${!name[@]}`.
    Names,
    /// `-` and `:-`.
    Default,
    /// `=` and `:=`.
    Assign,
    /// `?` and `:?`.
    Complain,
    /// `+` and `:+`.
    Alternate,
    /// `#`, `%`, `/`, `^`, `,`.
    Pattern,
    Substring,
    /// `@Q` and the like.
    Transform(char),
}
