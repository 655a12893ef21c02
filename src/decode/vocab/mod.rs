//! Token ids and the bytes of every token.
