//! `brush-series`: the patch series as git checkouts under `brush/edit`, and back.
//!
//! The command line is all that is here; what the commands do is in the library.

use std::{env, fs, path::Path, process::ExitCode};

use anyhow::{Context as _, Result, bail};
use brush_patching::{
    checkout,
    layout::{PACKAGE_FOLDERS, PackageLayout},
    pristine::SourceOrigin,
};

const USAGE: &str = "usage: brush-series edit [--discard] | save    (in the root of the repository)

edit  lays each package's patched tree out under brush/edit, one commit for each patch
      --discard  replaces checkouts although they hold what is not saved
save  writes the commits back to brush/*/patches";

enum Action {
    Edit { discard: bool },
    Save,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match parse(&arguments).and_then(|action| run(&action, Path::new("brush"))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("brush-series: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Result<Action> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["edit"] => Ok(Action::Edit { discard: false }),
        ["edit", "--discard"] => Ok(Action::Edit { discard: true }),
        ["save"] => Ok(Action::Save),
        _ => bail!("{USAGE}"),
    }
}

fn run(action: &Action, brush: &Path) -> Result<()> {
    for folder in PACKAGE_FOLDERS {
        let layout = PackageLayout::of_package(&brush.join(folder));
        let (name, version) = package_identity(&layout)?;
        let pristine = SourceOrigin::from_environment(layout.upstream_manifest()).read(&name, &version)?;
        match action {
            Action::Edit { discard } => {
                let count = checkout::edit(&layout, &pristine, *discard)?;
                println!("{}: {name} {version} with {count} patches", layout.checkout().display());
            }
            Action::Save => {
                let count = checkout::save(&layout, &pristine)?;
                println!("{}: {count} patches", layout.patches().display());
            }
        }
    }
    Ok(())
}

/// Reads name and version from the package's manifest, where each stands on a line of its own.
fn package_identity(layout: &PackageLayout) -> Result<(String, String)> {
    let path = layout.directory().join("Cargo.toml");
    let manifest = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let value = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'));
        line.map(str::to_owned).with_context(|| format!("{} has no {key}", path.display()))
    };
    Ok((value("name")?, value("version")?))
}
