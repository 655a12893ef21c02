//! Model names to GGUF files, and what their headers say.
