//! Numbers for people: sizes, durations, signals.
//!
//! Rounds towards what is certain. Programs get the exact numbers from the story's data.

/// The name of a signal, by Linux's numbers.
pub(super) fn signal_name(number: i32) -> String {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF",
        "WINCH", "IO", "PWR", "SYS",
    ];
    let name = usize::try_from(number).ok().and_then(|number| NAMES.get(number.checked_sub(1)?));
    name.map_or_else(|| format!("signal {number}"), |name| format!("SIG{name}"))
}

/// A number of bytes for people: `41 B`, `1.8 KiB`.
pub(super) fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut tenths = u128::from(count) * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    if tenths >= 1000 {
        format!("{} {}", tenths / 10, UNITS[unit])
    } else {
        format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
    }
}

/// A duration for people: `0.4ms`, `12ms`, `1.24s`, `2m05s`, `1h02m`.
pub(super) fn duration(us: u64) -> String {
    let ms = us / 1000;
    match ms {
        0..10 => format!("{ms}.{}ms", us % 1000 / 100),
        10..1000 => format!("{ms}ms"),
        1000..60_000 => format!("{}.{:02}s", ms / 1000, ms % 1000 / 10),
        60_000..3_600_000 => format!("{}m{:02}s", ms / 60_000, ms % 60_000 / 1000),
        _ => format!("{}h{:02}m", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_three_digits() {
        let sizes = [0, 1023, 1024, 1832, 102_400, 1 << 20, u64::MAX].map(bytes);
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KiB", "1.7 KiB", "100 KiB", "1.0 MiB", "16777215 TiB"]);
    }

    #[test]
    fn durations_take_the_unit_that_tells_most() {
        let durations = [0, 999, 9_999, 12_000, 1_240_000, 125_000_000, 3_720_000_000].map(duration);
        assert_eq!(durations, ["0.0ms", "0.9ms", "9.9ms", "12ms", "1.24s", "2m05s", "1h02m"]);
    }

    #[test]
    fn signals_have_names_and_unknown_ones_their_numbers() {
        assert_eq!(
            [9, 15, 31, 34, 0, -1].map(signal_name),
            ["SIGKILL", "SIGTERM", "SIGSYS", "signal 34", "signal 0", "signal -1"]
        );
    }
}
