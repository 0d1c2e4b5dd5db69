//! `serve`: the receiver, from start to orderly stop.
//!
//! Puts the pieces together and waits. What the pieces do stands in their own modules.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, ensure};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::cli::ServeArgs;
use crate::feed_printer::{self, Form};
use crate::intake::{self, Heard, Listener as Hearing, Unwritten};
use crate::journal::Durability;
use crate::receiver::{self, Listener, Receiver};
use crate::rules::Rules;
use crate::spool::Spool;
use crate::terminal::{complain, options_for_stdout};
use crate::tokens::Tokens;

/// Whose word is taken, once it is known that there is something to receive from; an error is bad usage.
pub(crate) fn tokens(inputs: &ServeArgs) -> anyhow::Result<Tokens> {
    let listens = inputs.listen.is_some() || inputs.socket.is_some();
    ensure!(listens || !inputs.spool.is_empty(), "nothing to receive from: give --listen, --socket or --spool");
    let tokens = Tokens::gather(inputs.token_file.as_deref(), inputs.sessions.as_deref())?;
    ensure!(tokens.any() || !listens, "no token: give --token-file FILE, --sessions FILE, or set NUCLEIC_HOOK_TOKEN");
    Ok(tokens)
}

/// Serves until SIGTERM or SIGINT.
pub(crate) fn serve(inputs: &ServeArgs, rules: Rules, tokens: Tokens) -> anyhow::Result<()> {
    let journal = inputs.journal.clone().map_or_else(default_journal, Ok)?;
    let (hearing, printer) = match feed_form(inputs) {
        Some(form) => feed_printer::start(form).map(|(hearing, printer)| (hearing, Some(printer)))?,
        None => (Box::new(|_: Heard<'_>| {}) as Hearing, None),
    };
    let (intake, writer) = intake::start(&journal, Durability::Disk, Unwritten::Refused, hearing)?;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("starting the runtime")?;
    let spool = Spool::new(inputs.spool.clone(), intake.clone(), rules.clone());
    let (stop, stopped) = watch::channel(false);
    let receiver = Arc::new(Receiver::new(tokens, intake, rules, stopped.clone()));
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).context("catching SIGTERM")?;
        let mut interrupt = signal(SignalKind::interrupt()).context("catching SIGINT")?;
        let listeners = listen(inputs).await?;
        complain(&format!("keeping accepted batches in {}", journal.display()));
        let (stop_spool, spool_stopped) = std::sync::mpsc::channel();
        let watching = tokio::task::spawn_blocking(move || spool.watch(&spool_stopped));
        let serving = tokio::spawn(receiver::serve(listeners, receiver, stopped));
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        drop(stop_spool);
        // Both ends are waited for; that either ended by itself is no reason not to stop.
        let _ = stop.send(true);
        let _ = serving.await;
        let _ = watching.await;
        anyhow::Ok(())
    })?;
    drop(runtime);
    if let Some(path) = &inputs.socket {
        // Gone already means that somebody else tidied up.
        let _ = std::fs::remove_file(path);
    }
    let _ = writer.join();
    if let Some(printer) = printer {
        printer.wait();
    }
    Ok(())
}

async fn listen(inputs: &ServeArgs) -> anyhow::Result<Vec<Listener>> {
    let mut listeners = Vec::new();
    if let Some(address) = inputs.listen {
        listeners.push(Listener::tcp(address).await?);
    }
    if let Some(path) = &inputs.socket {
        listeners.push(Listener::unix(path)?);
    }
    for listener in &listeners {
        complain(&format!("listening on {}", listener.address()));
    }
    Ok(listeners)
}

fn feed_form(inputs: &ServeArgs) -> Option<Form> {
    if inputs.json {
        Some(Form::Json)
    } else if inputs.follow {
        Some(Form::Lines(options_for_stdout(inputs.color, false)))
    } else {
        None
    }
}

/// Where a service manager or the user's environment wants state to be.
fn default_journal() -> anyhow::Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(dir) = set("STATE_DIRECTORY") {
        return Ok(dir);
    }
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    let state = state.context("no place for the journal: give --journal, or set XDG_STATE_HOME or HOME")?;
    Ok(state.join("nash-correlate"))
}
