//! Traces of `set -x`: how deep they stand, and those of assignments that builtins make.
//!
//! Upstream counts every subshell as a level; it has no such file. What a trace shows of words is `quoting`'s, and where it
//! goes is the shell's business.

#![warn(warnings, clippy::all, clippy::pedantic)]

use brush_parser::ast;

use crate::callstack::{FrameType, ScriptCallType};
use crate::gate::Level;
use crate::interp::ExecutionParameters;
use crate::{Shell, extensions};

impl<SE: extensions::ShellExtensions> Shell<SE> {
    /// How often the first character of the prefix is repeated: once for each text that is run within another.
    pub(crate) fn trace_depth(&self) -> usize {
        let is_text = |level: &&Level| match level {
            Level::CommandSubstitution | Level::ProcessSubstitution(_) | Level::Source(_) => true,
            // What a shell runs at its end stands where the shell does.
            Level::Trap(name) => &**name != "EXIT",
            _ => false,
        };
        let texts = self.place().levels().iter().filter(is_text).count() + self.call_stack().evaluations();
        if self.is_starting_up() { texts.saturating_sub(1) } else { texts }
    }

    /// Whether what runs is a file that a shell reads before its commands: no text stands around that one.
    fn is_starting_up(&self) -> bool {
        let outermost = self.call_stack().iter().last();
        outermost.is_some_and(|frame| {
            matches!(&frame.frame_type, FrameType::Script(call) if matches!(call.call_type, ScriptCallType::Source))
        })
    }
}

/// Traces an assignment that a builtin makes, if commands are traced.
pub async fn trace_assignment(
    shell: &mut Shell<impl extensions::ShellExtensions>,
    params: &ExecutionParameters,
    name: &str,
    value: &str,
    append: bool,
) {
    if shell.options().print_commands_and_arguments {
        let op = if append { "+=" } else { "=" };
        let text = format!("{name}{op}{}", crate::quoting::assigned(value));
        shell.trace_command(params, text).await;
    }
}

/// What is traced of an array that a declaration assigns, with every key and value in single quotes; nothing of other values.
pub(crate) fn elements(assignment: &ast::Assignment) -> Option<String> {
    let ast::AssignmentValue::Array(elements) = &assignment.value else { return None };
    let quoted = |text: &str| std::format!("'{}'", text.replace('\'', "'\\''"));
    let elements = elements.iter().map(|(key, value)| match key {
        Some(key) => std::format!("[{}]={}", quoted(&key.value), quoted(&value.value)),
        None => quoted(&value.value),
    });
    let op = if assignment.append { "+=" } else { "=" };
    Some(std::format!("{}{op}({})", assignment.name, elements.collect::<Vec<_>>().join(" ")))
}
