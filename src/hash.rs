//! SHA-256 as text: what identifies models, files, revisions and attempts.

use sha2::{Digest, Sha256};

/// The SHA-256 of some bytes, in hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_standard_s_examples() {
        let table = [
            (&b""[..], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ];
        for (bytes, expected) in table {
            assert_eq!(super::sha256(bytes), expected);
        }
    }
}
