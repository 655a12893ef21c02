//! TOML to checked sections. Reads no environment and holds no globals.
