//! Strategy and case to chat messages, and messages to the text that a model reads. Pure.
