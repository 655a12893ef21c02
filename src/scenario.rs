//! The nouns: scenario, case, example, strategy, parsed from a file's text. No file access.
