use jiff::civil::date;

use super::*;

fn scenario() -> Scenario {
    let text = r#"{
        "name": "parcels", "description": "Parcels that customers ask about.",
        "schema": {"type": "object", "properties": {"Zip": {"type": "string"}, "Age": {"type": "integer"}}},
        "examples": [{"text": "Where is my parcel to 10115? I am 44.", "json": {"Zip": "10115", "Age": 44}}],
        "cases": [{"id": "1", "text": "x", "expected": {}}]
    }"#;
    crate::scenario::parse(text).expect("a good scenario").scenario
}

#[test]
fn built_in_prompts_read_well() {
    let scenario = scenario();
    let writer = Writer::new(&scenario).unwrap();
    insta::assert_snapshot!(writer.write(false, " Hello, 5 parcels.\n").unwrap()[0].content);
    insta::assert_snapshot!(writer.write(true, "Hello, 5 parcels.").unwrap()[0].content);
}

#[test]
fn a_scenario_s_own_templates_win_and_mistakes_are_named() {
    let mut scenario = scenario();
    scenario.prompts.plain = "{{ examples[0].json }}|{{ text }}".into();
    scenario.prompts.system = Some("Be brief.".into());
    let messages = Writer::new(&scenario).unwrap().write(false, "m").unwrap();
    assert_eq!(messages[0], Message { role: Role::System, content: "Be brief.".into() });
    assert_eq!(messages[1].content, "{\n  \"Zip\": \"10115\",\n  \"Age\": 44\n}|m");

    scenario.prompts.plain = "one\n{{ message }}".into();
    let error = Writer::new(&scenario).unwrap().write(false, "m").unwrap_err().to_string();
    assert!(error.contains("prompts/plain") && error.contains("plain:2"), "{error}");
}

#[test]
fn a_message_is_asked_for_from_its_json() {
    let mut scenario = scenario();
    scenario.prompts.generate = "{{ examples[0].text }}|{{ json }}".into();
    scenario.prompts.system = Some("Be brief.".into());
    let messages = Writer::new(&scenario).unwrap().write_generate(&serde_json::json!({"Zip": "1"})).unwrap();
    assert_eq!(messages.len(), 1, "the system turn is the strategies'");
    assert_eq!(messages[0].content, "Where is my parcel to 10115? I am 44.|{\n  \"Zip\": \"1\"\n}");
}

const CHATML: &str = "{%- for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m.content.strip() + '<|im_end|>\n' }}{%- endfor %}{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% if enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}{%- endif %}";
const NO_SYSTEM: &str = "{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for m in messages %}<start_of_turn>{{ m.role }}\n{{ m.content | trim }}<end_of_turn>\n{% endfor %}<start_of_turn>model\n";
const DROPS_SYSTEM: &str =
    "{% for m in messages if m.role == 'user' %}[INST] {{ m.content }} [/INST]{% endfor %}";
const DATED: &str = "Today: {{ strftime_now('%d %b %Y') }}\n{% for m in messages %}{{ m.role.upper() }}: {{ m.content.strip().replace('Hi', 'Hi') }}{% if not loop.last %}{% continue %}{% endif %}{{ eos_token }}{% endfor %}";

#[test]
fn chat_templates_render_as_their_authors_meant() {
    let messages = [
        Message { role: Role::System, content: "Be brief.".into() },
        Message { role: Role::User, content: " Hi!\nHow are you?".into() },
    ];
    let render = |source: &str| {
        let template = ChatTemplate::new(source.into(), "<s>", "</s>", date(2026, 1, 2)).unwrap();
        template.render(&messages, false).unwrap()
    };
    insta::assert_snapshot!([CHATML, NO_SYSTEM, DROPS_SYSTEM, DATED].map(render).join("\n────\n"));
    insta::assert_snapshot!(completion(&messages));
}

#[test]
fn a_template_that_cannot_be_used_says_why() {
    let broken = ChatTemplate::new("{% for %}".into(), "", "", date(2026, 1, 2)).err().unwrap().to_string();
    assert!(broken.contains("chat:1"), "{broken}");
    let refusing =
        ChatTemplate::new("{{ raise_exception('never') }}".into(), "", "", date(2026, 1, 2)).unwrap();
    let error = refusing.render(&[Message { role: Role::User, content: "x".into() }], false).unwrap_err();
    assert!(error.to_string().contains("never"), "{error}");
}
