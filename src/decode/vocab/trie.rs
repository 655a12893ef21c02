//! The text tokens as a flat preorder trie over their bytes. Knows no constraint.

use super::TokenId;

/// One byte of one or more tokens; its children follow it directly.
#[derive(Clone, Copy, Debug)]
pub(in crate::decode) struct Node {
    /// The byte that leads here from the parent.
    pub byte: u8,
    /// Whether this byte and all below are ASCII characters that stand for themselves in a JSON string.
    pub is_plain: bool,
    /// Bytes before this one on the way from the root.
    pub depth: u16,
    /// Index of the first node that is not below this one.
    pub end: u32,
    /// Index of this node's first token in [`Trie::tokens`]; the next node's index ends the list.
    tokens: u32,
}

/// A preorder array: a refused byte skips to `end`, and the tokens of a whole subtree are one slice.
#[derive(Debug, Default)]
pub(in crate::decode) struct Trie {
    nodes: Vec<Node>,
    tokens: Vec<TokenId>,
}

impl Trie {
    /// A trie of the given pieces; none of them is empty.
    pub(in crate::decode) fn new<'a>(pieces: impl Iterator<Item = (&'a [u8], TokenId)>) -> Self {
        // Sorted once at load: the preorder walk needs siblings adjacent.
        let mut sorted: Vec<_> = pieces.collect();
        sorted.sort_unstable();
        let mut trie = Self::default();
        let mut open: Vec<usize> = Vec::new();
        let mut last: &[u8] = &[];
        for (bytes, token) in sorted {
            let shared = last.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            trie.close(&mut open, shared);
            for (depth, &byte) in bytes.iter().enumerate().skip(shared) {
                open.push(trie.nodes.len());
                let tokens = trie.tokens.len() as u32;
                trie.nodes.push(Node { byte, is_plain: false, depth: depth as u16, end: 0, tokens });
            }
            trie.tokens.push(token);
            last = bytes;
        }
        trie.close(&mut open, 0);
        trie.mark_plain();
        trie
    }

    fn mark_plain(&mut self) {
        for idx in (0..self.nodes.len()).rev() {
            let Node { byte, end, .. } = self.nodes[idx];
            let mut is_plain = matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
            let mut child = idx + 1;
            while is_plain && child < end as usize {
                is_plain = self.nodes[child].is_plain;
                child = self.nodes[child].end as usize;
            }
            self.nodes[idx].is_plain = is_plain;
        }
    }

    /// The node that a piece ends at, if some token begins so.
    pub(in crate::decode) fn node_of(&self, piece: &[u8]) -> Option<usize> {
        let mut range = 0..self.nodes.len();
        let mut found = None;
        for &byte in piece {
            let mut idx = range.start;
            while idx < range.end && self.nodes[idx].byte != byte {
                idx = self.nodes[idx].end as usize;
            }
            if idx >= range.end {
                return None;
            }
            found = Some(idx);
            range = idx + 1..self.nodes[idx].end as usize;
        }
        found
    }

    /// The nodes in preorder.
    pub(in crate::decode) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The tokens that end exactly at a node.
    pub(in crate::decode) fn tokens_at(&self, node: usize) -> &[TokenId] {
        &self.tokens[self.nodes[node].tokens as usize..self.first_token(node + 1)]
    }

    /// The tokens that end at or below a node.
    pub(in crate::decode) fn tokens_below(&self, node: usize) -> &[TokenId] {
        &self.tokens[self.nodes[node].tokens as usize..self.first_token(self.nodes[node].end as usize)]
    }

    /// A token that ends at or below a node.
    pub(in crate::decode) fn first_token_below(&self, node: usize) -> TokenId {
        self.tokens[self.nodes[node].tokens as usize]
    }

    fn first_token(&self, node: usize) -> usize {
        self.nodes.get(node).map_or(self.tokens.len(), |node| node.tokens as usize)
    }

    fn close(&mut self, open: &mut Vec<usize>, depth: usize) {
        let end = self.nodes.len() as u32;
        for node in open.drain(depth..) {
            self.nodes[node].end = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_found_at_the_node_that_spells_it() {
        let pieces: [&[u8]; 7] = [b"a", b"ab", b"b", b"ab", b"\xff\x00", b"abc", b"b"];
        let trie = Trie::new(pieces.iter().enumerate().map(|(idx, piece)| (*piece, TokenId(idx as u32))));
        let mut path = Vec::new();
        let mut found = Vec::new();
        for (idx, node) in trie.nodes().iter().enumerate() {
            path.truncate(node.depth as usize);
            path.push(node.byte);
            found.extend(trie.tokens_at(idx).iter().map(|token| (token.0 as usize, path.clone())));
        }
        found.sort();
        assert_eq!(found, pieces.iter().map(|piece| piece.to_vec()).enumerate().collect::<Vec<_>>());
        assert_eq!(trie.nodes().len(), 6);
        assert_eq!(trie.nodes()[0].end, 3, "a, ab, abc are one subtree");
        assert_eq!(trie.first_token_below(1), TokenId(1));
    }
}
