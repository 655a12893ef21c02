//! The one interface: a state, a byte, maybe a new state; may it end; what is forced. Knows no tokens.
