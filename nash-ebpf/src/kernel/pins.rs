//! Maps and links that stay in a BPF file system when the process that made them is killed.
//!
//! The programs go on, the rings fill, and the next process takes over where this one stopped. Mounting such a file system is not
//! done here.

use std::io;
use std::path::{Path, PathBuf};

use aya::Ebpf;
use aya::programs::links::{FdLink, PinnedLink};

use super::load::{chain, open_maps, pinned_map};
use super::{LoadError, Probes};
use crate::abi::ABI_VERSION;

/// The maps that a process which takes over needs, and the one that the programs alone use but which says whose they are.
const MAPS: [&str; 5] = ["processes", "counts", "life_ring", "file_ring", "images"];

/// What a link's name begins with.
const LINK: &str = "link-";

/// Where one version of the contract keeps its pins, so that no other version takes them for its own.
fn folder(directory: &Path) -> PathBuf {
    directory.join(format!("nash-{ABI_VERSION}"))
}

/// Whether anything is pinned.
pub(super) fn exist(directory: &Path) -> bool {
    folders(directory).is_ok_and(|folders| !folders.is_empty())
}

pub(super) fn make_maps(object: &Ebpf, directory: &Path) -> Result<(), LoadError> {
    let folder = folder(directory);
    std::fs::create_dir_all(&folder).map_err(|error| pins_error(&folder, &error))?;
    for name in MAPS {
        let map = object.map(name).ok_or_else(|| pins_error(&folder, &io::Error::other(format!("no map {name}"))))?;
        map.pin(folder.join(name)).map_err(|error| pins_error(&folder, &error))?;
    }
    Ok(())
}

pub(super) fn make_links(links: Vec<(String, FdLink)>, directory: &Path) -> Result<Vec<(String, FdLink)>, LoadError> {
    let folder = folder(directory);
    links
        .into_iter()
        .map(|(name, link)| {
            let pinned = link.pin(folder.join(format!("{LINK}{name}"))).map_err(|error| pins_error(&folder, &error))?;
            Ok((name, pinned.into()))
        })
        .collect()
}

pub(super) fn resume(directory: &Path) -> Result<Option<Probes>, LoadError> {
    let folder = folder(directory);
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut failed = None;
    let maps = open_maps(
        |name| pinned_map(&folder, name).map_err(|error| failed = Some(error)).ok(),
        Some(directory.to_owned()),
    );
    let mut probes = match (maps, failed) {
        (_, Some(error)) | (Err(error), None) => return Err(error),
        (Ok(probes), None) => probes,
    };
    for entry in std::fs::read_dir(&folder).map_err(|error| pins_error(&folder, &error))? {
        let path = entry.map_err(|error| pins_error(&folder, &error))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(LINK))
        else {
            continue;
        };
        let link = PinnedLink::from_pin(&path).map_err(|error| pins_error(&path, &error))?;
        probes.links.push((name.to_owned(), link.into()));
    }
    Ok(Some(probes))
}

/// Removes the links of every version, which takes their programs out of the kernel; what these wrote stays readable.
pub(super) fn remove_links(directory: &Path) -> io::Result<()> {
    for folder in folders(directory)? {
        for entry in std::fs::read_dir(&folder)? {
            let pin = entry?.path();
            if is_link(&pin) {
                std::fs::remove_file(pin)?;
            }
        }
    }
    Ok(())
}

/// Removes the pins of every version.
pub(super) fn remove(directory: &Path) -> io::Result<()> {
    for folder in folders(directory)? {
        let mut pins: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(&folder)? {
            pins.push(entry?.path());
        }
        // Links first: from then on nothing is written that nobody reads.
        pins.sort_by_key(|pin| !is_link(pin));
        for pin in pins {
            std::fs::remove_file(pin)?;
        }
        std::fs::remove_dir(folder)?;
    }
    Ok(())
}

fn is_link(pin: &Path) -> bool {
    pin.file_name().is_some_and(|name| name.to_string_lossy().starts_with(LINK))
}

fn folders(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let ours = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix("nash-"));
        if ours.is_some_and(|version| version.parse::<u16>().is_ok()) && path.is_dir() {
            found.push(path);
        }
    }
    Ok(found)
}

fn pins_error(path: &Path, error: &dyn std::error::Error) -> LoadError {
    LoadError::Pins { path: path.to_owned(), reason: chain(error) }
}
