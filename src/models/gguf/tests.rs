//! The reader against small files made byte by byte: what it says of good ones, and why it refuses bad ones.

use std::fs;
use std::io::Cursor;

use proptest::prelude::*;

use super::testing::Gguf;
use super::*;

fn read_bytes(bytes: &[u8]) -> Result<Header, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.gguf");
    fs::write(&path, bytes).unwrap();
    read(&path)
}

fn header(gguf: &Gguf) -> Header {
    read_bytes(&gguf.bytes()).unwrap()
}

#[test]
fn a_header_says_what_the_file_says() {
    let gguf = Gguf::model("qwen2")
        .texts("tokenizer.ggml.tokens", &["a", "", "\u{e9}"])
        .raw("tokenizer.ggml.scores", 9, &[&6_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &[0; 8]].concat())
        .raw("qwen2.rope.freq_base", 6, &1e6_f32.to_le_bytes())
        .raw("a.negative", 5, &(-4_i32).to_le_bytes())
        .text("general.name", "Tiny")
        .text("general.type", "model")
        .u32("general.file_type", 15)
        .text("tokenizer.chat_template", "{{ messages }}");
    let header = header(&gguf);
    let bytes = gguf.bytes().len() as u64;
    let files = header.files.clone();
    let expected = Header {
        architecture: "qwen2".to_owned(),
        name: Some("Tiny".to_owned()),
        size_label: "0.5K".to_owned(),
        parameters: 516,
        quantisation: "Q4_K_M".to_owned(),
        context_length: Some(2048),
        chat_template: Some("{{ messages }}".to_owned()),
        files,
        bytes,
    };
    assert_eq!(header, expected);
}

#[test]
fn what_is_missing_is_derived_or_none() {
    let plain = header(&Gguf::model("llama").version(2));
    assert_eq!((plain.name, plain.chat_template), (None, None));
    assert_eq!(plain.quantisation, "Q4_1", "the type of most weights, though more tensors are F32");
    let guessed = header(&Gguf::model("llama").u32("general.file_type", 1024 + 7));
    assert_eq!(guessed.quantisation, "Q8_0");
    let unknown = header(&Gguf::model("llama").u32("general.file_type", 5));
    assert_eq!(unknown.quantisation, "Q4_1");
    assert_eq!(header(&Gguf::model("llama").text("general.size_label", "8x7B")).size_label, "8x7B");
    assert_eq!(header(&Gguf::model("llama").text("tokenizer.chat_template", "")).chat_template, None);
}

#[test]
fn sizes_are_labelled_as_people_do() {
    let cases = [
        (516, "0.5K"),
        (134_515_008, "135M"),
        (494_032_768, "494M"),
        (999_499_999, "999M"),
        (999_500_000, "1.0B"),
        (1_543_714_304, "1.5B"),
        (9_949_000_000, "9.9B"),
        (9_960_000_000, "10B"),
        (70_553_706_496, "71B"),
    ];
    for (parameters, label) in cases {
        assert_eq!(header::size_label(parameters), label);
    }
}

#[test]
fn the_data_starts_at_the_alignment() {
    let gguf = Gguf::model("llama").aligned(4096);
    let bytes = gguf.bytes();
    assert!(read_bytes(&bytes).is_ok());
    let cut = read_bytes(&bytes[..bytes.len() - 1]).unwrap_err().to_string();
    assert_eq!(cut, format!("file is cut off: {} of {} bytes", bytes.len() - 1, bytes.len()));
}

fn each_is_refused(cases: &[(Vec<u8>, &str)]) {
    for (bytes, expected) in cases {
        let refusal = read_bytes(bytes).expect_err(expected).to_string();
        assert!(refusal.contains(expected), "{expected}: {refusal}");
    }
}

#[test]
fn other_files_are_refused_by_their_start() {
    let version = |version| Gguf::model("llama").version(version).bytes();
    each_is_refused(&[
        (vec![], "not a GGUF file: it is empty"),
        (b"GG".to_vec(), r#"starts with "GG", not with "GGUF""#),
        (b"PK\x03\x04....".to_vec(), r#"starts with "PK\x03\x04....", not"#),
        (b"GGUF".to_vec(), "cut off: its header goes on after its 4 bytes"),
        (version(1), "GGUF version 1 is not supported (versions 2 and 3 are)"),
        (version(4), "GGUF version 4 is not supported"),
        (version(3_u32.swap_bytes()), "a big-endian GGUF file"),
    ]);
}

#[test]
fn damaged_metadata_is_refused() {
    let model = || Gguf::model("llama");
    let array = |kind: u32, count: u64| [&kind.to_le_bytes()[..], &count.to_le_bytes()].concat();
    let open_end = Gguf::empty().raw("a", 8, &9_u64.to_le_bytes());
    each_is_refused(&[
        (model().text("a", "1").text("a", "2").bytes(), "key `a` is there twice"),
        (model().raw("a", 13, &[0; 8]).bytes(), "`a` has a value of unknown type 13"),
        (model().raw("a", 9, &array(9, 1)).bytes(), "`a` has a value of unknown type 9"),
        (model().raw("a", 8, &[255; 8]).bytes(), "the text of `a` has 18446744073709551615 bytes"),
        (model().raw("a", 9, &array(10, u64::MAX)).bytes(), "18446744073709551615 array elements do not fit"),
        (open_end.bytes(), "cut off: its header goes on after its"),
        (model().u32("general.alignment", 0).bytes(), "`general.alignment` is not a power of two"),
        (model().u32("general.alignment", 48).bytes(), "`general.alignment` is not a power of two"),
        (Gguf::empty().tensor("w", &[1], 0, 4).bytes(), "there is no `general.architecture`"),
    ]);
}

#[test]
fn impossible_tensors_are_refused() {
    let tensor = |row: &[u64], kind, offset| Gguf::model("llama").tensor_at("w", row, kind, offset).bytes();
    each_is_refused(&[
        (tensor(&[1; 5], 0, 0), "tensor `w` has 5 dimensions, 4 is the most"),
        (tensor(&[1 << 33, 1 << 33], 0, 0), "tensor `w` has too many elements"),
        (tensor(&[48, 2], 3, 0), "`w` has rows of 48, not a multiple of 32 (Q4_1)"),
        (tensor(&[8], 0, u64::MAX), "tensor `w` ends beyond any possible file"),
        (tensor(&[32], 4, 0), "tensor `w` has type 4, which the llama.cpp built in here does not know"),
        (tensor(&[32], 99, 0), "tensor `w` has type 99, which"),
    ]);
}

#[test]
fn files_that_are_no_text_models_are_refused() {
    let bert = |causal| Gguf::model("bert").flag("bert.attention.causal", causal).bytes();
    let adapter = Gguf::model("llama").text("general.type", "adapter");
    each_is_refused(&[
        (adapter.bytes(), "its `general.type` is `adapter`, which goes beside a model"),
        (Gguf::model("clip").bytes(), "a projector for images or sound"),
        (Gguf::empty().text("general.architecture", "llama").bytes(), "no tensors, only a vocabulary"),
        (bert(false), "`bert` without causal attention is an encoder"),
    ]);
    assert!(read_bytes(&bert(true)).is_ok());
}

#[test]
fn a_count_that_cannot_be_true_is_refused_before_it_is_believed() {
    let mut bytes = Gguf::model("llama").bytes();
    bytes[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(read_bytes(&bytes).unwrap_err().to_string().contains("18446744073709551615 tensors do not fit"));
    let mut bytes = Gguf::model("llama").bytes();
    bytes[16..24].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    assert!(
        read_bytes(&bytes).unwrap_err().to_string().contains("1099511627776 metadata entries do not fit")
    );
}

#[test]
fn tensor_sizes_follow_from_their_types() {
    // (type, elements of a row, bytes): llama.cpp's block sizes, a few of each shape.
    let cases = [
        (0, 4, 16),
        (1, 4, 8),
        (2, 32, 18),
        (8, 64, 68),
        (12, 256, 144),
        (14, 512, 420),
        (23, 256, 136),
        (30, 4, 8),
    ];
    for (kind, row, bytes) in cases {
        let gguf = Gguf::empty().text("general.architecture", "llama").tensor("w", &[row], kind, bytes);
        let whole = gguf.bytes();
        assert!(read_bytes(&whole).is_ok(), "type {kind}");
        assert!(matches!(read_bytes(&whole[..whole.len() - 1]), Err(Error::CutData { .. })), "type {kind}");
    }
}

fn part(part_idx: u16, count: u16) -> Vec<u8> {
    let first =
        if part_idx == 0 { Gguf::model("llama") } else { Gguf::empty().tensor("more", &[100], 0, 400) };
    first.u16("split.no", part_idx).u16("split.count", count).bytes()
}

#[test]
fn a_split_model_is_all_of_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let names = ["m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf"];
    for (part_idx, name) in names.iter().enumerate() {
        fs::write(at(name), part(part_idx as u16, 3)).unwrap();
    }
    let whole = read(&at(names[0])).unwrap();
    assert_eq!(whole.parameters, 516 + 200);
    assert_eq!(whole.files, names.map(at));
    assert_eq!(whole.bytes, (0..3).map(|part_idx| part(part_idx, 3).len() as u64).sum::<u64>());

    let later = read(&at(names[1])).unwrap_err().to_string();
    assert_eq!(later, "part 2 of 3 of a split model; name its first part, `m-00001-of-00003.gguf`");

    fs::write(at(names[2]), part(1, 3)).unwrap();
    let swapped = read(&at(names[0])).unwrap_err().to_string();
    assert!(swapped.contains("m-00003-of-00003.gguf: damaged header"), "{swapped}");
    assert!(swapped.contains("`split.no` is not 2"), "{swapped}");

    fs::remove_file(at(names[2])).unwrap();
    let missing = read(&at(names[0])).unwrap_err().to_string();
    assert!(missing.contains("m-00003-of-00003.gguf: cannot be read"), "{missing}");

    fs::rename(at(names[0]), at("renamed.gguf")).unwrap();
    let renamed = read(&at("renamed.gguf")).unwrap_err().to_string();
    assert!(renamed.contains("not named `NAME-00001-of-00003.gguf`"), "{renamed}");
}

#[test]
fn part_names_are_llama_cpps_only() {
    let named = |name: &str| PartName::of(Path::new(name)).map(|named| (named.stem, named.part, named.count));
    assert_eq!(named("/x/a-b-00002-of-00012.gguf"), Some(("a-b".to_owned(), 2, 12)));
    for other in
        ["a.gguf", "a-2-of-3.gguf", "a-00001-of-00002.bin", "a-0000x-of-00002.gguf", "00001-of-00002.gguf"]
    {
        assert_eq!(named(other), None, "{other}");
    }
}

#[test]
fn every_truncation_is_refused() {
    let bytes = Gguf::model("llama").texts("t", &["one", "two"]).text("general.name", "x").bytes();
    assert!(layout::read(Cursor::new(&bytes), bytes.len() as u64, &[]).is_ok());
    for length in 0..bytes.len() {
        let refused = layout::read(Cursor::new(&bytes[..length]), length as u64, &[]);
        assert!(refused.is_err(), "{length} of {} bytes were taken for a whole file", bytes.len());
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(tail in proptest::collection::vec(any::<u8>(), 0..200), version in 0_u32..5) {
        let bytes = [b"GGUF", &version.to_le_bytes()[..], &tail].concat();
        prop_assert!(layout::read(Cursor::new(&tail), tail.len() as u64, &[]).is_err());
        // Twenty bytes of zeros after the version are an empty file, and so fine.
        let _either = layout::read(Cursor::new(&bytes), bytes.len() as u64, &[]);
    }

    #[test]
    fn damaged_files_never_panic_nor_change_size(at in 0_usize..700, with in any::<u8>(), cut in 0_usize..700) {
        let mut bytes = Gguf::model("llama").texts("tokens", &["a", "bc"]).text("general.name", "n").bytes();
        let at = at % bytes.len();
        bytes[at] ^= with;
        bytes.truncate(bytes.len() - cut % bytes.len());
        if let Ok(layout) = layout::read(Cursor::new(&bytes), bytes.len() as u64, &[]) {
            prop_assert_eq!(layout.bytes, bytes.len() as u64);
            prop_assert!(layout.tensors.len() <= 3);
        }
    }
}
