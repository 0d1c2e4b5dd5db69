//! Records as the probes would write them, for tests.
//!
//! Puts bytes together only; nothing here is part of the program.

use zerocopy::{Immutable, IntoBytes};

use super::{ABI_VERSION, BODY_BYTES, Form, Head, Kind, Span};

/// A record in the making.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub head: Head,
    body: Vec<u8>,
    text: Vec<u8>,
}

impl Draft {
    /// A record of process 412, which started at tick 88123 below the shell 400.
    #[expect(clippy::needless_pass_by_value, reason = "a body is written where it is passed")]
    pub(crate) fn new<B: IntoBytes + Immutable>(kind: Kind, body: B) -> Self {
        let mut head = Head {
            abi: ABI_VERSION,
            kind: kind as u16,
            boot_ns: 881_234_567_890,
            start_ns: 881_234_567_890,
            root_start_ns: 880_009_999_999,
            cgroup: 42,
            tgid: 412,
            tid: 413,
            root_tgid: 400,
            ns_tgid: 12,
            pid_ns: 4_026_531_836,
            ppid: 411,
            uid: 1000,
            ..Head::default()
        };
        head.comm[..3].copy_from_slice(b"git");
        let mut body = body.as_bytes().to_vec();
        body.resize(BODY_BYTES, 0);
        Self { head, body, text: Vec::new() }
    }

    pub(crate) fn flags(mut self, flags: u32) -> Self {
        self.head.flags = flags;
        self
    }

    /// Appends a piece; pieces are given in the order of their spans.
    pub(crate) fn piece(mut self, span: usize, form: Form, bytes: &[u8]) -> Self {
        self.head.span[span] = Span { bytes: u16::try_from(bytes.len()).unwrap(), form: form as u8, cut: 0 };
        self.text.extend_from_slice(bytes);
        self
    }

    pub(crate) fn cut(mut self, span: usize) -> Self {
        self.head.span[span].cut = 1;
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut head = self.head;
        head.size = u32::try_from(size_of::<Head>() + BODY_BYTES + self.text.len()).unwrap();
        [head.as_bytes(), &self.body, &self.text].concat()
    }
}
