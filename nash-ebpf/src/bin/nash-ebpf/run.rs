//! `run`: the daemon.
//!
//! Puts probes, journal and sender together, and takes them apart in order. What each of them does stands with them.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use nash_ebpf::account::Reason;
use nash_ebpf::bpffs;
use nash_ebpf::heap;
use nash_ebpf::identity::Identity;
use nash_ebpf::journal::{Bounds, Journal, Left, Progress};
use nash_ebpf::kernel::{self, LoadError, Options, Probes, RingId, Scope};
use nash_ebpf::likeness::Likeness;
use nash_ebpf::privileges::{self, User};
use nash_ebpf::recorder::Recorder;
use nash_ebpf::sending::{self, News, Sender, Target};
use sd_notify::NotifyState;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::cli::RunArgs;
use crate::observation::Observation;
use crate::said::say;

/// The shell's file name.
const SHELL: &str = "nash";

/// How often the service manager is told that all is well, and the watched process is looked for.
const WATCHDOG_INTERVAL: Duration = Duration::from_secs(1);

/// How long the sender may take at the end: 3 s, twice what a shell gives a collector. The journal keeps the rest.
const LAST_SENDING: Duration = Duration::from_secs(3);

/// What the name begins with under which a place for pins is claimed.
const CLAIM: &[u8] = b"nash-ebpf:";

/// Observes until it is told to stop.
pub(crate) fn run(inputs: &RunArgs) -> anyhow::Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("catching signals")?;
    }
    if !privileges::may_observe() {
        return Err(LoadError::NotPermitted.into());
    }
    let user = inputs.user.as_deref().map(user).transpose()?;
    let target = target(inputs)?;
    let pins = pins(inputs);
    // Held until this process ends, however it does.
    let _sole = pins.as_deref().map(claim).transpose()?;
    let (mut journal, mut left) = Journal::open(&inputs.journal, bounds(inputs), user.map_or(0, |user| user.uid))?;
    if let Some(pins) = &pins {
        left = finish_for_another(pins, &mut journal, left)?;
    }
    let probes = attach(inputs, pins.as_deref()).inspect_err(|_| tidy(pins.as_deref()))?;
    let ended = observe(inputs, probes, &mut journal, left, pins.as_deref(), user, target, &stop);
    if let (Err(error), Some(pins)) = (&ended, &pins) {
        // Nothing that nobody looks after goes on in the kernel.
        if kernel::detach(pins).is_err() || !kernel::is_pinned(pins) {
            let _ = kernel::unpin(pins);
        } else {
            say(&format!("{error:#}: what was not written waits in {} for the next start", pins.display()));
        }
    }
    tidy(pins.as_deref());
    ended
}

/// From attached probes to detached ones.
#[expect(clippy::too_many_arguments, reason = "each is one of the things that a daemon is made of")]
fn observe(
    inputs: &RunArgs,
    mut probes: Probes,
    journal: &mut Journal,
    left: Option<Left>,
    pins: Option<&Path>,
    user: Option<User>,
    target: Option<Target>,
    stop: &AtomicBool,
) -> anyhow::Result<()> {
    let cursor = sending::cursor(&inputs.journal);
    let (identity, progress) = stream(&probes, left)?;
    journal.write_as(&identity.observer_id);
    give_away(&probes, journal, pins, user)?;
    let sender = target.map(|target| Sender::start(journal.lines(cursor), target)).transpose();
    let sender = sender.context("starting the sender")?;
    let mut recorder = Recorder::new(&identity, journal, progress);
    recorder.recognise(
        Likeness::of(&inputs.preserved, &shells(&inputs.shell).unwrap_or_default())
            .context("reading the preserved shells")?,
    );
    recorder.catch_up(&mut probes);
    recorder.present(probes.take_seeds());
    if let Err(error) = recorder.begin(&mut probes) {
        say(&format!("the journal can't be written: {error}"));
    }
    say(&format!("observing as {}: {}", identity.observer_id, probes.programs().collect::<Vec<_>>().join(", ")));
    let mut observation = Observation::new(probes, recorder);
    heap::give_back();
    let _ = sd_notify::notify(&[NotifyState::Ready]);
    let watched = watch(&mut observation, sender.as_ref(), inputs.below, stop);
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
    let ended = observation.end().context("writing the end of the journal");
    ended.and(observation.sink().sync().context("writing the journal to disk"))?;
    if let Some(sender) = sender {
        sender.wake();
        sender.finish(LAST_SENDING);
    }
    watched
}

/// Looks after the observation until there is a signal, or the watched process is gone.
fn watch(
    observation: &mut Observation<&mut Journal>,
    sender: Option<&Sender>,
    below: Option<u32>,
    stop: &AtomicBool,
) -> anyhow::Result<()> {
    let mut told_at = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let any = observation.step().context("reading the rings")?;
        if let Some(sender) = sender {
            if any {
                sender.wake();
            }
            sender.news().for_each(|news| hear(observation, news));
        }
        if told_at.elapsed() >= WATCHDOG_INTERVAL {
            told_at = Instant::now();
            let _ = sd_notify::notify(&[NotifyState::Watchdog]);
            if below.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn hear(observation: &mut Observation<&mut Journal>, news: News) {
    match news {
        News::Away(trouble) => say(&format!("the receiver does not take events: {trouble}; they wait in the journal")),
        News::Back => say("the receiver takes events again"),
        News::Refused(reason, lost) => {
            say(&format!("the receiver refused {} events, which the journal has: {reason}", lost.total()));
            observation.lose(Reason::ReceiverRefused, &lost);
        }
    }
}

/// Writes down what an observer had not come to write after it detached its probes, and ends its stream; what is left of earlier
/// streams otherwise.
fn finish_for_another(pins: &Path, journal: &mut Journal, left: Option<Left>) -> anyhow::Result<Option<Left>> {
    // A resumed set that can't be read is told of when it is to be taken over.
    let Ok(Some(mut probes)) = Probes::resume(pins) else { return Ok(left) };
    if probes.programs().next().is_some() {
        return Ok(left);
    }
    say("writing down what an observer left that was stopped");
    let (identity, progress) = stream(&probes, left)?;
    journal.write_as(&identity.observer_id);
    let recorder = Recorder::new(&identity, journal, progress);
    recorder.catch_up(&mut probes);
    Observation::new(probes, recorder).end().context("writing what an observer left")?;
    Ok(None)
}

/// Attaches probes, or takes over those of an observer that was killed.
fn attach(inputs: &RunArgs, pins: Option<&Path>) -> anyhow::Result<Probes> {
    let shells = shells(&inputs.shell)?;
    if let Some(pins) = pins {
        bpffs::prepare(pins).with_context(|| format!("a BPF file system at {}", pins.display()))?;
        match Probes::resume(pins) {
            Ok(Some(probes)) => return Ok(probes),
            Ok(None) => {}
            Err(error) => {
                say(&format!("{error}; starting anew"));
                kernel::unpin(pins).with_context(|| format!("removing the pins in {}", pins.display()))?;
            }
        }
    }
    let (life_ring_bytes, file_ring_bytes) = inputs.room.ring_bytes();
    let options = Options {
        shells,
        preserved: inputs.preserved.clone(),
        scope: inputs.below.map_or(Scope::EveryShell, Scope::Below),
        processes_max: inputs.room.processes_max,
        life_ring_bytes,
        file_ring_bytes,
        pins: pins.map(Path::to_owned),
    };
    Ok(Probes::load(&options)?)
}

/// The stream that an earlier observer left, where these are its rings; else a new one.
fn stream(probes: &Probes, left: Option<Left>) -> anyhow::Result<(Identity, Progress)> {
    let identity = Identity::new().context("naming this observer")?;
    if !probes.resumed() {
        return Ok((identity, Progress::default()));
    }
    let left = left.filter(|left| Recorder::<Journal>::can_resume(left, &identity.boot_id, probes));
    if let Some(left) = left {
        say("taking over from an observer that was killed");
        return Ok((Identity { observer_id: left.observer_id, ..identity }, left.progress));
    }
    say("taking over from an observer whose journal is not here: what it had read is counted as unaccounted");
    let (life, file) = (probes.released_to(RingId::Life), probes.released_to(RingId::File));
    Ok((identity, Progress { life, file, ..Progress::default() }))
}

/// Claims a place for pins, so that nobody takes over from an observer that lives. A name without a file: nothing of it stays, and it
/// keeps no file system busy.
fn claim(pins: &Path) -> anyhow::Result<UnixListener> {
    let pins = std::path::absolute(pins)?;
    let mut name = CLAIM.to_vec();
    name.extend_from_slice(pins.as_os_str().as_bytes());
    let address = SocketAddr::from_abstract_name(&name).with_context(|| format!("claiming {}", pins.display()))?;
    match UnixListener::bind_addr(&address) {
        Ok(claim) => Ok(claim),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            bail!("an observer is running with its pins in {}; --pin names another place", pins.display())
        }
        Err(error) => Err(error).with_context(|| format!("claiming {}", pins.display())),
    }
}

/// Gives privileges away, and to the user that goes on what it needs.
fn give_away(probes: &Probes, journal: &Journal, pins: Option<&Path>, user: Option<User>) -> anyhow::Result<()> {
    let keeps_mount = pins.is_some_and(|pins| bpffs::own_mount(pins).is_some());
    if let Some(User { uid, gid }) = user {
        journal.give_to(uid, gid).context("giving the journal to its user")?;
        if let Some(pins) = pins {
            bpffs::give_to(pins, uid, gid).context("giving the pins to their user")?;
        }
    }
    let works = || probes.counts().map(drop);
    privileges::drop_all(user, keeps_mount, &works).context("giving privileges away")
}

/// Takes the place for pins away, if nothing is pinned.
fn tidy(pins: Option<&Path>) {
    let Some(pins) = pins else { return };
    // Without any left, only the mount would have needed them, and says so.
    let _ = privileges::raise_kept();
    if let Err(error) = bpffs::remove(pins) {
        say(&format!("{} stays: {error}", pins.display()));
    }
}

fn pins(inputs: &RunArgs) -> Option<PathBuf> {
    let default = || inputs.below.is_none().then(|| PathBuf::from(bpffs::DEFAULT_PINS));
    inputs.pin.clone().or_else(default)
}

fn bounds(inputs: &RunArgs) -> Bounds {
    let total_bytes = inputs.journal_max.saturating_mul(1 << 20);
    // Of a small journal, a part gives way at a time and not all of it.
    Bounds { file_bytes: Bounds::default().file_bytes.min(total_bytes / 4), total_bytes }
}

/// The shells to watch: those asked for, else nash beside this program, else in `PATH`.
fn shells(asked_for: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    if !asked_for.is_empty() {
        return Ok(asked_for.to_vec());
    }
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join(SHELL)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|dir| dir.join(SHELL));
    match beside.into_iter().chain(in_path).find(|path| path.is_file()) {
        Some(found) => Ok(vec![found]),
        None => bail!("no nash found beside this program or in PATH; --shell PATH names one"),
    }
}

fn target(inputs: &RunArgs) -> anyhow::Result<Option<Target>> {
    let Some(socket) = inputs.receiver.clone() else { return Ok(None) };
    let token = match &inputs.token_file {
        Some(path) => {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("reading the token file {}", path.display()))?;
            ensure!(!text.trim().is_empty(), "the token file {} is empty, expected one token", path.display());
            Some(text.trim().to_owned())
        }
        None => std::env::var("NUCLEIC_HOOK_TOKEN").ok().filter(|token| !token.is_empty()),
    };
    Ok(Some(Target { socket, token }))
}

/// A user by number or by its name in `/etc/passwd`. Other sources of names are not asked: they need the network, or a library that
/// brings it.
fn user(text: &str) -> anyhow::Result<User> {
    let numbers = text.split_once(':').unwrap_or((text, text));
    if let (Ok(uid), Ok(gid)) = (numbers.0.parse(), numbers.1.parse()) {
        return Ok(User { uid, gid });
    }
    let passwd = std::fs::read_to_string("/etc/passwd").context("reading /etc/passwd")?;
    let found = passwd.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.first() == Some(&text)).then_some(())?;
        Some(User { uid: fields.get(2)?.parse().ok()?, gid: fields.get(3)?.parse().ok()? })
    });
    found.with_context(|| format!("no user {text:?} in /etc/passwd; UID:GID works as well"))
}
