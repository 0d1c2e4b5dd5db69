//! The command line: what was typed, as types.
//!
//! Nothing is opened or looked up here, so that `--help` and bad usage cost nothing.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use nash_ebpf::bpffs::DEFAULT_PINS;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "nash-ebpf",
    version,
    about = "Sees from the kernel what shells' descendants do",
    max_term_width = 100
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Observe every nash of this machine until told to stop
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Run one command and write down what it and its descendants did
    #[command(after_help = RECORD_HELP)]
    Record(RecordArgs),
    /// Wait to be observed, then run a command
    #[command(hide = true)]
    Hold(HoldArgs),
    /// Tell what this kernel gives to an observer, and what each lack costs
    #[command(after_help = FEATURES_HELP)]
    Features(FeaturesArgs),
    /// Take away what an observer that was killed left in the kernel
    #[command(after_help = UNPIN_HELP)]
    Unpin(UnpinArgs),
}

const RUN_HELP: &str = "\
Needs CAP_BPF and CAP_PERFMON (and CAP_SYS_ADMIN where no BPF file system is
mounted), and gives them away once the probes are attached.

After SIGTERM or SIGINT: the probes are detached, the rings emptied, the losses
told, the journal synced, the pins taken away. After SIGKILL the probes go on;
the next start takes them over and misses nothing that fits the rings.

Exit status:
  0 after SIGTERM or SIGINT; 1 where something failed; 2 for bad usage;
  3 where this kernel or this user can't observe

Example:
  nash-ebpf run --shell /usr/bin/nash --preserved /bin/bash.real \\
    --receiver /run/nash/control.sock --token-file /etc/nash/token";

const RECORD_HELP: &str = "\
The journal is one batch of events a line, as `nash-correlate` reads it. Without
--output it goes to standard output, and the command's standard output to
standard error. The command keeps its terminal, its signals and its status. What
it leaves running is observed no longer than the command itself.

Exit status:
  the command's own; 128+N where signal N ended it; 125 where it could not be
  started under observation; 126 and 127 where it can't be executed or found;
  2 for bad usage; 3 where this kernel or this user can't observe

Example:
  nash-ebpf record -o build.ndjson -- make -j2";

const FEATURES_HELP: &str = "\
Everything is tried, and nothing stays loaded.

Exit status:
  0 where the probes work; 3 where they don't";

const UNPIN_HELP: &str = "\
Exit status:
  0 where nothing is pinned any more; 1 where it could not be taken away";

/// `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Keep the journal in this directory, which only its owner can enter
    #[arg(long, value_name = "DIR", default_value = "/var/lib/nash-ebpf")]
    pub(crate) journal: PathBuf,
    /// How much the journal may hold; the oldest gives way
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) journal_max: u64,
    /// Send what is in the journal to the receiver behind this unix socket
    #[arg(long, value_name = "SOCKET")]
    pub(crate) receiver: Option<PathBuf>,
    /// A file with the token that the receiver expects; `NUCLEIC_HOOK_TOKEN` serves as well
    #[arg(long, value_name = "FILE", requires = "receiver")]
    pub(crate) token_file: Option<PathBuf>,
    /// A nash whose processes to watch; may be given several times [default: nash beside this program, else in PATH]
    #[arg(long, value_name = "PATH")]
    pub(crate) shell: Vec<PathBuf>,
    /// A real shell whose execution to report wherever it happens; may be given several times
    #[arg(long, value_name = "PATH")]
    pub(crate) preserved: Vec<PathBuf>,
    /// Watch only what descends from this process, and end when it does
    #[arg(long, value_name = "PID")]
    pub(crate) below: Option<u32>,
    /// Where maps and programs stay when this process is killed [default: /sys/fs/bpf/nash-ebpf; with --below nowhere]
    #[arg(long, value_name = "DIR")]
    pub(crate) pin: Option<PathBuf>,
    /// Go on as this user once the probes are attached: a name in /etc/passwd, or UID[:GID]
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
    #[command(flatten)]
    pub(crate) room: Room,
}

/// How much room the probes get.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Room {
    /// How many processes can be watched at a time
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) processes_max: u32,
    /// Room for records of processes' lives, rounded up to a power of two
    #[arg(long, value_name = "KIB", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(4..=1 << 20))]
    pub(crate) life_ring: u32,
    /// Room for records of files and everything else, rounded up to a power of two
    #[arg(long, value_name = "KIB", default_value_t = 8192, value_parser = clap::value_parser!(u32).range(4..=1 << 20))]
    pub(crate) file_ring: u32,
}

/// `record`.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Write the journal to this file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// A real shell whose execution to report wherever it happens; may be given several times
    #[arg(long, value_name = "PATH")]
    pub(crate) preserved: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) room: Room,
    /// What to run
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}

/// `hold`.
#[derive(Debug, Args)]
pub(crate) struct HoldArgs {
    /// The process that lets it go
    #[arg(long, value_name = "PID")]
    pub(crate) observer: u32,
    /// What to run
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}

/// `features`.
#[derive(Debug, Args)]
pub(crate) struct FeaturesArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `unpin`.
#[derive(Debug, Args)]
pub(crate) struct UnpinArgs {
    /// Where the pins are
    #[arg(long, value_name = "DIR", default_value = DEFAULT_PINS)]
    pub(crate) pin: PathBuf,
}

impl Room {
    /// The rings' sizes in bytes, of lives and of files.
    pub(crate) fn ring_bytes(self) -> (u32, u32) {
        let bytes = |kib: u32| kib.next_power_of_two().saturating_mul(1 << 10);
        (bytes(self.life_ring), bytes(self.file_ring))
    }
}
