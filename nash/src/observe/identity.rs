//! Which process this shell is, in words that a kernel observer uses too.
//!
//! `(bootId, pid, startTicks)` names a process for ever; a pid alone does not. Where there is no `/proc` the fields stay
//! absent.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;

/// What the system says about this process.
#[derive(Clone, Debug, Default)]
pub(super) struct Identity {
    /// The pid in the shell's own namespace.
    pub pid: u32,
    /// The parent's pid.
    pub parent_pid: u32,
    /// Field 22 of `/proc/self/stat`.
    pub start_ticks: Option<u64>,
    /// The boot that the ticks count from.
    pub boot_id: Option<String>,
    /// The inode of the pid namespace.
    pub pid_namespace: Option<u64>,
}

impl Identity {
    /// Asks the system about this process.
    pub(super) fn of_this_process() -> Self {
        let boot_id = read_short("/proc/sys/kernel/random/boot_id");
        Self {
            pid: std::process::id(),
            parent_pid: std::os::unix::process::parent_id(),
            start_ticks: read_short("/proc/self/stat").as_deref().and_then(start_ticks),
            boot_id: boot_id.map(|id| id.trim_end().to_owned()),
            pid_namespace: fs::metadata("/proc/self/ns/pid").ok().map(|metadata| metadata.ino()),
        }
    }
}

/// Reads a file of the kernel's that is shorter than a kilobyte, by one call: this is done at every start of a shell.
fn read_short(path: &str) -> Option<String> {
    let mut buffer = [0; 1024];
    let count = fs::File::open(path).and_then(|mut file| file.read(&mut buffer)).ok()?;
    String::from_utf8(buffer[..count].to_vec()).ok()
}

/// Field 22 of a `stat` line. The name in field 2 may hold anything, so counting begins after its last parenthesis.
fn start_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::start_ticks;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let fields: Vec<String> = (3..=30).map(|field| field.to_string()).collect();
        let stat = format!("411 (a) b (c)) {}", fields.join(" "));
        assert_eq!(start_ticks(&stat), Some(22));
    }

    #[test]
    fn what_is_not_a_stat_line_has_no_ticks() {
        assert_eq!(start_ticks("nothing here"), None);
    }
}
