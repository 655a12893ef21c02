//! Where references lead, dynamic ones by the way that led to them.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Compiler;
use super::resources::{RECURSIVE, Target};

/// The documents on the way to a schema: which schema each dynamic anchor stands for, the outermost first come.
#[derive(Clone, Default)]
pub(super) struct Scope<'s> {
    anchors: Rc<BTreeMap<String, Target<'s>>>,
    /// Equal for equal anchors; 0 without any.
    pub id: u32,
}

/// Where the compiler was before it entered a document.
pub(super) struct Outer<'s> {
    base: String,
    scope: Scope<'s>,
}

impl<'s> Compiler<'s> {
    /// Goes on in the document with this URI.
    pub(super) fn enter(&mut self, base: String) -> Outer<'s> {
        let scope = self.scope.clone();
        for (name, target) in self.resources.dynamic_anchors(&base) {
            if !self.scope.anchors.contains_key(name) {
                Rc::make_mut(&mut self.scope.anchors).insert(name.clone(), target.clone());
            }
        }
        if self.scope.anchors.len() > scope.anchors.len() {
            let address = |target: &Target<'s>| std::ptr::from_ref(target.schema) as usize;
            let key =
                self.scope.anchors.iter().map(|(name, target)| (name.clone(), address(target))).collect();
            let next = self.scopes.len() as u32 + 1;
            self.scope.id = *self.scopes.entry(key).or_insert(next);
        }
        Outer { base: std::mem::replace(&mut self.base, base), scope }
    }

    /// Goes back to where it was.
    pub(super) fn leave(&mut self, outer: Outer<'s>) {
        self.base = outer.base;
        self.scope = outer.scope;
    }

    /// What a reference leads to from here, if it stays in this document.
    pub(super) fn target(&self, keyword: &str, reference: &str) -> Option<Target<'s>> {
        let found = self.resources.resolve(&self.base, reference)?;
        let name = match keyword {
            "$dynamicRef" => reference.rsplit('#').next().unwrap_or_default(),
            "$recursiveRef" => RECURSIVE,
            _ => return Some(found),
        };
        // Only where the plain target is such an anchor itself does the way matter.
        let is_dynamic = self
            .resources
            .dynamic_anchors(&found.base)
            .iter()
            .any(|(known, target)| known == name && std::ptr::eq(target.schema, found.schema));
        Some(self.scope.anchors.get(name).filter(|_| is_dynamic).cloned().unwrap_or(found))
    }
}
