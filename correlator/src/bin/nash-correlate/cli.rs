//! The command line: what was typed, as types.
//!
//! Nothing is opened or looked up here, so that `--help` and bad usage cost nothing.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

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
}

const RUN_HELP: &str = "\
What runs:
  run -- 'make test && git push'  one word: a command line, as for -c
  run -- ./build.sh --fast        a script that can be read, with its arguments
  run -- grep -r 'a b' src        one command, each word kept as it is
  run -c 'echo \"$1\"' -- name arg  a command line with $0 and $1

Where the story goes:
  The script's standard input, output and error are its own. The story follows
  the script's output on standard output, or goes to --output. With --json and
  without --output, standard output carries the story alone, and the script's
  standard output goes to standard error.

Exit status:
  the script's own; 128+N where signal N ended it; 125 where it could not be
  run; 2 for bad usage and for rules that can't be used

Example:
  nash-correlate run -- 'for f in *.rs; do wc -l < \"$f\"; done | sort -n'";

const SERVE_HELP: &str = "\
Routes:
  POST /shell-event, POST /kernel-event: one batch
  202 once it is on disk           401 without a known token
  413 over 4 MiB                   400 with a reason for what is not a batch
  408 after 15 s without its end   404, 405 for other routes and methods
  503 where it could not be kept

Exit status:
  0 after SIGTERM or SIGINT; 1 where it could not start; 2 for bad usage and for
  rules that can't be used

Example:
  nash-correlate serve --listen 127.0.0.1:7171 --token-file token --follow";

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
