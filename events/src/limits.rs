//! The bounds of the formats and of the queues between them, each with its reason.
//!
//! Numbers only. What happens beyond a bound is decided where the bound is applied, and is always counted.

/// Size of one batch in bytes: 1 MiB, a quarter of what receivers take, so that no encoding can push it over.
pub const BATCH_BYTES_MAX: usize = 1 << 20;

/// Size of one request body in bytes that a receiver takes: 4 MiB; beyond it the answer is 413.
pub const RECEIVER_BODY_BYTES_MAX: usize = 4 << 20;

/// Preview of one event in bytes, before base64: 64 KiB, the size of a full pipe.
pub const PREVIEW_BYTES_MAX: usize = 64 << 10;

/// Previews of one simple command together in bytes: 256 KiB, so that one command can't fill a batch alone.
pub const PREVIEWS_PER_COMMAND_BYTES_MAX: usize = 256 << 10;

/// Bytes of one file or stream that are hashed: 64 MiB, about a fifth of a second of hashing after the command.
pub const HASHED_BYTES_MAX: u64 = 64 << 20;

/// One reported argument in bytes: 4 KiB, the longest path that Linux takes.
pub const ARG_BYTES_MAX: usize = 4 << 10;

/// Reported arguments of one command: 64; what follows is almost always a list of files.
pub const ARGS_MAX: usize = 64;

/// Reported arguments of one command together in bytes: 32 KiB, so that an event stays far below a batch.
pub const ARGV_BYTES_MAX: usize = 32 << 10;

/// Levels around a command that are told: the outermost 64. More are a recursion, whose every command would tell all of it again.
pub const NESTING_LEVELS_MAX: usize = 64;

/// Events that wait in the shell: 4096, minutes of an ordinary script while a collector is away.
pub const QUEUE_EVENTS_MAX: usize = 4096;

/// Bytes of events that wait in the shell: 8 MiB, what a shell may cost in memory beside its script.
pub const QUEUE_BYTES_MAX: usize = 8 << 20;

/// Events after which a batch is flushed: 200, a screenful for a live feed and one request for a receiver.
pub const FLUSH_EVENTS: usize = 200;

/// Bytes of records after which a batch is flushed: 128 KiB, so that a shell that captures much has little left to deliver at its end.
pub const FLUSH_BYTES: u64 = 128 << 10;

/// Milliseconds after which a batch is flushed, and after which a running command is announced: 500, soon for a person.
pub const FLUSH_INTERVAL_MS: u64 = 500;

/// Milliseconds that connect, write and answer may take together: 1500, a slow collector on a loaded machine.
pub const DELIVERY_BUDGET_MS: u64 = 1500;

/// Milliseconds of delivery at the end of a shell: 250; what is left then goes to the spool.
pub const DELIVERY_AT_END_BUDGET_MS: u64 = 250;

/// Size of a spool directory in bytes: 64 MiB; the oldest complete file goes first.
pub const SPOOL_BYTES_MAX: u64 = 64 << 20;

/// One line of a journal in bytes that a reader holds: 1 MiB, since a longer record could not travel in a batch.
pub const RECORD_BYTES_MAX: usize = BATCH_BYTES_MAX;

/// One line of a spool file in bytes that a reader holds: what a receiver would take.
pub const SPOOL_LINE_BYTES_MAX: usize = RECEIVER_BODY_BYTES_MAX;

/// Commands whose `exec` a journal's reader remembers for `cmdSeq`: 4096, as many as events can wait in a shell.
pub const REMEMBERED_COMMANDS_MAX: usize = QUEUE_EVENTS_MAX;
