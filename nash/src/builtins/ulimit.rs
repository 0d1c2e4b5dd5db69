//! `ulimit`: shows and sets limits of resources.
//!
//! The limits are the kernel's; here are their letters, units and names.

use super::call::{Call, system_words};
use super::sys;

/// A resource that `ulimit` knows.
struct Resource {
    letter: char,
    /// What the kernel calls it; nothing for the size of pipes, which can only be shown.
    number: Option<u32>,
    name: &'static str,
    unit: &'static str,
    /// How many of the kernel's units a unit of bash's has.
    block: u64,
}

const fn resource(letter: char, number: u32, name: &'static str, unit: &'static str, block: u64) -> Resource {
    Resource { letter, number: Some(number), name, unit, block }
}

/// The resources, in the order in which all are shown.
const RESOURCES: &[Resource] = &[
    // The number that Linux gives RLIMIT_RTTIME.
    resource('R', 15, "real-time non-blocking time", "microseconds", 1),
    resource('c', libc::RLIMIT_CORE, "core file size", "blocks", 1024),
    resource('d', libc::RLIMIT_DATA, "data seg size", "kbytes", 1024),
    resource('e', libc::RLIMIT_NICE, "scheduling priority", "", 1),
    resource('f', libc::RLIMIT_FSIZE, "file size", "blocks", 1024),
    resource('i', libc::RLIMIT_SIGPENDING, "pending signals", "", 1),
    resource('l', libc::RLIMIT_MEMLOCK, "max locked memory", "kbytes", 1024),
    resource('m', libc::RLIMIT_RSS, "max memory size", "kbytes", 1024),
    resource('n', libc::RLIMIT_NOFILE, "open files", "", 1),
    Resource { letter: 'p', number: None, name: "pipe size", unit: "512 bytes", block: 512 },
    resource('q', libc::RLIMIT_MSGQUEUE, "POSIX message queues", "bytes", 1),
    resource('r', libc::RLIMIT_RTPRIO, "real-time priority", "", 1),
    resource('s', libc::RLIMIT_STACK, "stack size", "kbytes", 1024),
    resource('t', libc::RLIMIT_CPU, "cpu time", "seconds", 1),
    resource('u', libc::RLIMIT_NPROC, "max user processes", "", 1),
    resource('v', libc::RLIMIT_AS, "virtual memory", "kbytes", 1024),
    resource('x', libc::RLIMIT_LOCKS, "file locks", "", 1),
];

/// How much a pipe takes at once, in bytes.
const PIPE_BYTES: u64 = 4096;

/// What `ulimit` was asked for.
#[derive(Default)]
struct Request {
    soft: bool,
    hard: bool,
    all: bool,
    /// Resources with their new limits, if any.
    resources: Vec<(char, Option<String>)>,
}

/// Runs the builtin.
pub(crate) fn run(call: &mut Call<'_>) -> u8 {
    let words = std::mem::take(&mut call.words);
    let mut request = match Request::parse(&words) {
        Ok(request) => request,
        Err('?') => return call.refuse(&super::options::Refusal::Help),
        Err(letter) => return call.refuse(&super::options::Refusal::Unknown(format!("-{letter}"))),
    };
    if request.all {
        for resource in RESOURCES {
            let line = labelled(resource, &request);
            call.print(&line);
        }
        return 0;
    }
    let shows_names = request.resources.len() > 1;
    for (letter, limit) in std::mem::take(&mut request.resources) {
        let Some(resource) = RESOURCES.iter().find(|resource| resource.letter == letter) else { continue };
        let status = match limit {
            None => {
                let line =
                    if shows_names { labelled(resource, &request) } else { format!("{}\n", shown(resource, &request)) };
                call.print(&line);
                0
            }
            Some(limit) => set(call, resource, &limit, &request),
        };
        if status != 0 {
            return status;
        }
    }
    0
}

impl Request {
    /// Reads the options; gives the letter that isn't one.
    fn parse(words: &[String]) -> Result<Self, char> {
        let mut request = Self::default();
        let mut rest = words.iter().peekable();
        while let Some(word) = rest.peek() {
            if *word == "--help" {
                return Err('?');
            }
            if *word == "--" {
                rest.next();
                break;
            }
            let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else { break };
            rest.next();
            let mut letters = letters.chars();
            while let Some(letter) = letters.next() {
                match letter {
                    'S' => request.soft = true,
                    'H' => request.hard = true,
                    'a' => request.all = true,
                    _ if RESOURCES.iter().any(|resource| resource.letter == letter) => {
                        // A limit stands beside the letter or in the next word.
                        let beside = letters.as_str();
                        let limit = if beside.is_empty() {
                            rest.next_if(|word| !word.starts_with('-')).cloned()
                        } else {
                            Some(beside.to_owned())
                        };
                        letters = "".chars();
                        request.resources.push((letter, limit));
                    }
                    other => return Err(other),
                }
            }
        }
        // A word behind all options is the limit of the last of them.
        if let Some((_, limit @ None)) = request.resources.last_mut() {
            *limit = rest.next().cloned();
        }
        if request.resources.is_empty() {
            request.resources.push(('f', rest.next().cloned()));
        }
        Ok(request)
    }
}

fn labelled(resource: &Resource, request: &Request) -> String {
    let Resource { letter, name, unit, .. } = resource;
    let unit = if unit.is_empty() { format!("(-{letter}) ") } else { format!("({unit}, -{letter}) ") };
    format!("{name:<20} {unit:>20}{}\n", shown(resource, request))
}

fn shown(resource: &Resource, request: &Request) -> String {
    let limit = match resource.number {
        None => PIPE_BYTES,
        Some(number) => match sys::limits(number) {
            Ok((soft, hard)) => {
                if request.hard && !request.soft {
                    hard
                } else {
                    soft
                }
            }
            Err(_) => libc::RLIM_INFINITY,
        },
    };
    if limit == libc::RLIM_INFINITY { "unlimited".to_owned() } else { (limit / resource.block).to_string() }
}

fn set(call: &mut Call<'_>, resource: &Resource, word: &str, request: &Request) -> u8 {
    let now = resource.number.and_then(|number| sys::limits(number).ok()).unwrap_or_default();
    let limit = match word {
        "unlimited" => Some(libc::RLIM_INFINITY),
        "hard" => Some(now.1),
        "soft" => Some(now.0),
        _ if word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty() => {
            let number =
                word.bytes().fold(0_u64, |number, digit| number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')));
            let limit = number.checked_mul(resource.block);
            if limit.is_none() {
                call.complain(&format!("{word}: limit out of range"));
                return 1;
            }
            limit
        }
        _ => None,
    };
    let Some(limit) = limit else {
        let kind = match word.as_bytes() {
            [b'0', b'0'..=b'9', ..] => "octal ",
            [b'0', b'x', ..] => "hex ",
            _ => "",
        };
        call.complain(&format!("{word}: invalid {kind}number"));
        return 1;
    };
    // Without a word both are set.
    let both = request.soft == request.hard;
    let soft = if both || request.soft { limit } else { now.0 };
    let hard = if both || request.hard { limit } else { now.1 };
    let result = match resource.number {
        Some(number) => sys::set_limits(number, soft, hard),
        None => Err(std::io::Error::from_raw_os_error(libc::EINVAL)),
    };
    match result {
        Ok(()) => 0,
        Err(error) => {
            call.complain(&format!("{}: cannot modify limit: {}", resource.name, system_words(&error)));
            1
        }
    }
}
