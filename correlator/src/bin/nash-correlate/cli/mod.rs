//! The command line: what was typed, as types.
//!
//! Nothing is opened or looked up here, so that `--help` and bad usage cost nothing.

mod help;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use help::{
    ANALYZE_HELP, BYPASS_HELP, COMPLETIONS_HELP, DOCTOR_HELP, DRAIN_HELP, EXPORT_HELP, MAN_HELP, RUN_HELP, SERVE_HELP,
};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "nash-correlate", version, about = "Receives, keeps and shows what shells did", max_term_width = 100)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a script under nash and print its story
    #[command(after_long_help = RUN_HELP, after_help = RUN_HELP)]
    Run(RunArgs),
    /// Receive batches over HTTP and from spool directories, and keep them
    #[command(after_long_help = SERVE_HELP, after_help = SERVE_HELP)]
    Serve(ServeArgs),
    /// Tell the story of spools and journals
    #[command(after_long_help = ANALYZE_HELP, after_help = ANALYZE_HELP)]
    Analyze(AnalyzeArgs),
    /// Write the story of spools and journals for a browser, a trace viewer or a program
    #[command(after_long_help = EXPORT_HELP, after_help = EXPORT_HELP)]
    Export(AnalyzeArgs),
    /// Find what acted, or tried to act, out of sight
    #[command(after_long_help = BYPASS_HELP, after_help = BYPASS_HELP)]
    Bypass(BypassArgs),
    /// Hand what is in a spool to a host that asks
    #[command(after_long_help = DRAIN_HELP, after_help = DRAIN_HELP)]
    Drain(DrainArgs),
    /// Say what this machine allows, and how to change what it doesn't
    #[command(after_long_help = DOCTOR_HELP, after_help = DOCTOR_HELP)]
    Doctor(DoctorArgs),
    /// Print a shell's completions for this program
    #[command(after_long_help = COMPLETIONS_HELP, after_help = COMPLETIONS_HELP)]
    Completions(CompletionsArgs),
    /// Write the manual pages of this program into a directory
    #[command(after_long_help = MAN_HELP, after_help = MAN_HELP)]
    Man(ManArgs),
}

/// `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Print the story as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the story to a file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The shell to run it with [default: nash beside this program, else in PATH]
    #[arg(long, value_name = "PATH")]
    pub(crate) shell: Option<PathBuf>,
    /// Who watches beside the shell
    #[arg(long, value_enum, default_value_t = Observed::Auto, value_name = "WHO")]
    pub(crate) observer: Observed,
    /// Keep the received batches and the spool in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Mask what the rules in this file find as well, a TOML file in gitleaks' format; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Vec<PathBuf>,
    /// Don't show how files and pipes begin, only how much went through them
    #[arg(long)]
    pub(crate) no_previews: bool,
    /// Colours in the tree
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    /// A command line; the words after it are its $0, $1, …
    #[arg(short = 'c', value_name = "CMD")]
    pub(crate) command_line: Option<OsString>,
    /// What to run
    #[arg(value_name = "WORD", required_unless_present = "command_line", trailing_var_arg = true)]
    pub(crate) words: Vec<OsString>,
}

/// Who watches what programs do once they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Observed {
    /// The best observer that this machine and this user allow
    Auto,
    /// nash-ebpf, or it is an error
    Ebpf,
    /// Nobody: the shell's own view
    None,
}

/// `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Listen on this TCP address; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Listen on a unix socket at this path
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// A file with a token that may speak for any session; `NUCLEIC_HOOK_TOKEN` serves as well
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// A TOML file of sessions and their tokens, one `session = "token"` a line
    #[arg(long, value_name = "FILE")]
    pub(crate) sessions: Option<PathBuf>,
    /// Keep accepted batches in this directory [default: nash-correlate in the user's state directory]
    #[arg(long, value_name = "DIR", env = "NUCLEIC_CORRELATE_JOURNAL")]
    pub(crate) journal: Option<PathBuf>,
    /// Take what shells leave in this directory; may be given several times
    #[arg(long, value_name = "DIR")]
    pub(crate) spool: Vec<PathBuf>,
    /// Mask what the rules in this file find as well, a TOML file in gitleaks' format; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Vec<PathBuf>,
    /// Print a line for each command that ends
    #[arg(long, conflicts_with = "json")]
    pub(crate) follow: bool,
    /// Print every new event as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Colours in the feed
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// `analyze` and `export`.
#[derive(Debug, Args)]
pub(crate) struct AnalyzeArgs {
    /// Files and directories to read; - is standard input
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// How the story is told.
    #[command(flatten)]
    pub(crate) shape: Shape,
    /// Look for what this file names as well, as bypass does; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) finding_rules: Vec<PathBuf>,
    /// Mask what the rules in this file find as well, a TOML file in gitleaks' format; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Vec<PathBuf>,
}

/// `bypass`.
#[derive(Debug, Args)]
pub(crate) struct BypassArgs {
    /// Files and directories to read; - is standard input
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Look for what this file names as well; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) finding_rules: Vec<PathBuf>,
    /// Mask what the rules in this file find as well, a TOML file in gitleaks' format; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Vec<PathBuf>,
    /// Colours
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// How a story is told, and where.
#[derive(Debug, Args)]
pub(crate) struct Shape {
    /// What the story looks like [default: tree; for export html]
    #[arg(long, short, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write the story to a file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Don't show how files and pipes begin, only how much went through them
    #[arg(long)]
    pub(crate) no_previews: bool,
    /// Colours in the tree
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

impl Shape {
    /// The form that was asked for.
    pub(crate) fn format(&self, otherwise: Format) -> Format {
        if self.json { Format::Json } else { self.format.unwrap_or(otherwise) }
    }
}

/// What a story looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A tree, for people
    Tree,
    /// One JSON object
    Json,
    /// Lines of JSON: the story, each finding, shell, command, pipe, event
    Ndjson,
    /// One page for a browser, with everything in it
    Html,
    /// A trace for ui.perfetto.dev and `chrome://tracing`
    Perfetto,
}

/// `drain`.
#[derive(Debug, Args)]
pub(crate) struct DrainArgs {
    /// The spool directory; one that does not exist is empty
    #[arg(long, value_name = "DIR")]
    pub(crate) spool: PathBuf,
    /// Remove what was delivered when this token comes on standard input, on a line of its own
    #[arg(long, value_name = "TOKEN")]
    pub(crate) ack: Option<String>,
    /// Bytes of batches in one reply; a larger file waits for a reply of its own
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 20)]
    pub(crate) limit: u64,
    /// Seconds to wait for the acknowledgement
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) timeout: u64,
}

/// `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Colours
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that is to complete
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Where the pages go; made where it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` says otherwise
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
