//! What may be written next so that the text can still become right. Knows no tokens and no model.
//!
//! A schema compiles to a Boolean formula over requirements ([`expr`], [`leaf`], `compile`). While a text is written,
//! events turn the formula into that of what remains to be shown: its kind (`tables`), its bytes (`text`, `number`),
//! its members and items (`members`, `items`), its end. Formulas that a child value decides wait with named verdicts
//! (`children`). States of a value are interned and their edges cached (`local`, `machine` and the `*_state` files);
//! a [`Matcher`] is a stack of them. A grammar (`gbnf`) has states and edges of the same kind. The text is refused as soon as the formula is false and may end when it is true.

mod array_state;
mod borders;
mod children;
mod compile;
mod decimal;
mod ecma;
mod explain;
mod expr;
mod formats;
mod gbnf;
mod items;
mod leaf;
mod lex;
mod local;
mod machine;
mod masking;
mod matcher;
mod members;
mod mentioned;
mod name_state;
mod number;
mod number_state;
mod object_state;
mod pattern;
mod plan;
mod policy;
mod prefix;
mod rules;
mod satisfiable;
mod shape;
mod sharing;
mod slicing;
mod space;
mod tables;
mod text;
mod text_state;
mod upkeep;
mod written;

pub use explain::Refusal;
pub use gbnf::GrammarError;
pub use matcher::{Constraint, Matcher};
pub use policy::{Formats, MemberOrder, Policy, Spelling, Whitespace};
pub use rules::{Note, Root, Rules, Unsupported};

pub(in crate::decode) use matcher::{Frame, Spot, Step};
pub(in crate::decode) use sharing::Endings;
pub(in crate::decode) use slicing::Class;
pub(in crate::decode) use written::Written;
