//! A story as a page for a browser: that it stands alone, and that no text in it becomes anything but text.

use nash_correlator::{Story, html};
use serde_json::{Value, json};

use crate::events::{SHELL, batch, exec, shell_start, story};

/// What someone would have to get into a page to be more than text.
const HOSTILE: [&str; 7] = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "</pre></noscript><img src=x onerror=alert(1)>",
    "\" onmouseover=alert(1) x=\"",
    "@STORY@ @SCRIPT@ @TREE@",
    "]]>&lt;&#60;script&#62;",
    "\u{202e}txt.exe\u{1b}[31m\u{2028}",
];

fn page(story: &Story, previews: bool) -> String {
    let mut out = Vec::new();
    html::write(story, previews, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The page of commands with these words.
fn page_of(words: &[&str]) -> String {
    let mut events = vec![shell_start(1, &json!({"argv": ["bash", words[0]], "cwd": words[0]}))];
    for (number, word) in words.iter().enumerate() {
        let number = number as u64 + 1;
        let more = json!({"argv": [word], "cwd": word, "error": word, "exitCode": 127, "assigns": [word]});
        events.push(exec(2 * number, number, "x", &more));
        events.push(json!({"kind": "redirect", "seq": 2 * number + 1, "cmd": number, "op": word, "fd": 1,
            "target": {"path": word}, "mode": word, "bytes": 4, "truncated": false, "redacted": [word],
            "previewB64": nash_events::bytes::to_base64(word.as_bytes())}));
    }
    page(&story(&[batch(SHELL, None, &events)]), true)
}

/// The data in a page.
fn data(page: &str) -> Value {
    let start = page.split_once("<script id=\"story\" type=\"application/json\">").unwrap().1;
    serde_json::from_str(start.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn no_text_of_a_story_becomes_markup() {
    let harmless = page_of(&["one", "two", "three", "four", "five", "six", "seven"]);
    let page = page_of(&HOSTILE);
    for tag in ["<script", "</script", "<img", "</pre", "</noscript", "<!--", "alert(1)</"] {
        assert_eq!(page.matches(tag).count(), harmless.matches(tag).count(), "{tag}");
    }
    let shells = &data(&page)["shells"];
    for (number, word) in HOSTILE.iter().enumerate() {
        assert_eq!(shells[0]["commands"][number]["argv"][0], *word, "the data are whole");
    }
    assert!(!page.contains('\u{1b}'), "a terminal that shows the file is safe as well");
}

#[test]
fn a_page_stands_alone_and_lets_only_its_own_script_run() {
    let page = page_of(&["one"]);
    for fetched in ["src=", "href=", "@import", "url(", "http://", "https://", "fetch(", "innerHTML", "eval("] {
        assert!(!page.contains(fetched), "{fetched}");
    }
    let policy = page.split_once("Content-Security-Policy").unwrap().1;
    assert!(policy.starts_with("\" content=\"default-src 'none'; script-src 'sha256-"), "{}", &policy[..200]);
    let script = page.rsplit_once("<script>").unwrap().1.rsplit_once("</script>").unwrap().0;
    let digest = <sha2::Sha256 as sha2::Digest>::digest(script.as_bytes());
    assert!(policy.contains(&nash_events::bytes::to_base64(&digest)), "the policy names another script");
}

#[test]
fn previews_are_cut_to_what_a_page_carries_and_left_out_on_request() {
    let large = nash_events::bytes::to_base64(&vec![b'x'; 3 * html::PREVIEW_BYTES_MAX]);
    let events = [
        exec(1, 1, "cat", &json!({})),
        json!({"kind": "redirect", "seq": 2, "cmd": 1, "op": ">", "target": {"path": "/w/f"}, "mode": "write",
            "bytes": 3 * html::PREVIEW_BYTES_MAX, "truncated": false, "previewB64": large}),
    ];
    let story = story(&[batch(SHELL, None, &events)]);
    let shown = &data(&page(&story, true))["shells"][0]["commands"][0]["redirects"][0];
    let kept = nash_events::bytes::from_base64(shown["previewB64"].as_str().unwrap()).unwrap();
    assert_eq!((kept.len(), &shown["truncated"]), (html::PREVIEW_BYTES_MAX, &json!(true)));
    let without = &data(&page(&story, false))["shells"][0]["commands"][0]["redirects"][0];
    assert_eq!((&without["previewB64"], &without["bytes"]), (&Value::Null, &json!(3 * html::PREVIEW_BYTES_MAX)));
}

#[test]
fn viewers_without_scripts_see_the_tree() {
    let page = page_of(&["one"]);
    let text = page.split_once("<noscript><pre>").unwrap().1.split_once("</pre>").unwrap().0;
    assert!(text.contains("coverage: shell only; 1 shell, 1 command"), "{text}");
}
