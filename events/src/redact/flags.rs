//! What is known about the flags of single programs: which of them takes a secret, and in which shape.
//!
//! `-p` is a port here and a password there, so short flags count only for the programs named. The reader walks over the
//! arguments of one command and says which range of which argument is secret; it masks nothing itself.

use super::bytes::Set;
use super::grammars::name::{self, Strength};
use super::value;
use std::ops::Range;

/// What part of an argument is secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// All of it.
    Whole,
    /// What follows the first separator: `user:password`.
    After(u8),
    /// What follows `pass:`, as in `openssl -passin pass:…`.
    PassSource,
    /// All of it, if it looks like a secret: for names that hold other things too.
    Likely,
}

/// Where the secret stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the same argument: `-pX`.
    Attached,
    /// In a later argument, so many further on.
    Later(u8),
}

struct Flag {
    text: &'static str,
    place: Place,
    shape: Shape,
}

struct Program {
    names: &'static [&'static str],
    /// A word that must come before the flag (`login`), if any.
    after: Option<&'static str>,
    flags: &'static [Flag],
}

const fn attached(text: &'static str, shape: Shape) -> Flag {
    Flag { text, place: Place::Attached, shape }
}

const fn next(text: &'static str, shape: Shape) -> Flag {
    Flag { text, place: Place::Later(0), shape }
}

const fn later(text: &'static str, skip: u8) -> Flag {
    Flag { text, place: Place::Later(skip), shape: Shape::Whole }
}

const PAIR: Shape = Shape::After(b':');

const PROGRAMS: &[Program] = &[
    Program {
        names: &["curl", "wget", "http", "https", "xh", "curlie"],
        after: None,
        flags: &[
            next("-u", PAIR),
            attached("-u", PAIR),
            next("--user", PAIR),
            attached("--user=", PAIR),
            next("-U", PAIR),
            attached("-U", PAIR),
            next("--proxy-user", PAIR),
            attached("--proxy-user=", PAIR),
            next("-a", PAIR),
            next("--auth", PAIR),
            attached("--auth=", PAIR),
            next("-b", Shape::After(b'=')),
            next("--cookie", Shape::After(b'=')),
            attached("--cookie=", Shape::After(b'=')),
            next("--oauth2-bearer", Shape::Whole),
        ],
    },
    Program {
        names: &[
            "mysql",
            "mariadb",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlshow",
            "mysqlcheck",
            "mysqlslap",
            "mysqlpump",
            "mariadb-dump",
            "mariadb-admin",
            "mysqlsh",
            "mycli",
            "xtrabackup",
            "7z",
            "7za",
            "7zr",
            "rar",
            "unrar",
        ],
        after: None,
        flags: &[attached("-p", Shape::Whole)],
    },
    Program { names: &["sshpass"], after: None, flags: &[next("-p", Shape::Whole), attached("-p", Shape::Whole)] },
    Program {
        names: &[
            "docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "crane", "oras", "az", "oc", "regctl",
            "cosign", "acr",
        ],
        after: Some("login"),
        flags: &[next("-p", Shape::Whole), attached("-p", Shape::Whole)],
    },
    Program {
        names: &[
            "mongo",
            "mongosh",
            "mongodump",
            "mongorestore",
            "mongoexport",
            "mongoimport",
            "influx",
            "clickhouse",
            "cqlsh",
            "sqoop",
        ],
        after: None,
        flags: &[next("-p", Shape::Whole)],
    },
    Program {
        names: &["twine"],
        after: Some("upload"),
        flags: &[next("-p", Shape::Whole), attached("-p", Shape::Whole)],
    },
    Program { names: &["redis-cli"], after: None, flags: &[next("-a", Shape::Whole), next("--pass", Shape::Whole)] },
    Program {
        names: &["smbclient", "rpcclient", "net", "smbget", "wmic"],
        after: None,
        flags: &[
            next("-U", Shape::After(b'%')),
            attached("-U", Shape::After(b'%')),
            attached("--user=", Shape::After(b'%')),
        ],
    },
    Program {
        names: &["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami"],
        after: None,
        flags: &[next("-w", Shape::Whole), attached("-w", Shape::Whole), next("-s", Shape::Likely)],
    },
    Program {
        names: &["openssl"],
        after: None,
        flags: &[
            next("-passin", Shape::PassSource),
            next("-passout", Shape::PassSource),
            next("-pass", Shape::PassSource),
            next("-k", Shape::Whole),
            next("-K", Shape::Whole),
        ],
    },
    Program {
        names: &["zip", "unzip", "ipmitool", "sqlcmd", "bcp"],
        after: None,
        flags: &[next("-P", Shape::Whole), attached("-P", Shape::Whole)],
    },
    Program {
        names: &["htpasswd"],
        after: None,
        flags: &[
            later("-b", 2),
            later("-cb", 2),
            later("-bc", 2),
            later("-nb", 1),
            later("-nbB", 1),
            later("-Bbn", 1),
            later("-bn", 1),
        ],
    },
    Program {
        names: &["rabbitmqctl"],
        after: None,
        flags: &[later("add_user", 1), later("change_password", 1), later("authenticate_user", 1)],
    },
    Program { names: &["vault", "op", "doppler", "fly"], after: None, flags: &[next("login", Shape::Likely)] },
    Program { names: &["ssh-keygen"], after: None, flags: &[next("-N", Shape::Whole), next("-P", Shape::Whole)] },
    Program { names: &["xcrun", "altool"], after: None, flags: &[next("-p", Shape::Whole)] },
    Program { names: &["lftp"], after: None, flags: &[next("-u", Shape::After(b','))] },
    Program {
        names: &["snmpwalk", "snmpget", "snmpset"],
        after: None,
        flags: &[next("-A", Shape::Whole), next("-X", Shape::Whole), next("-c", Shape::Likely)],
    },
    Program { names: &["xfreerdp", "xfreerdp3"], after: None, flags: &[attached("/p:", Shape::Whole)] },
    Program {
        names: &["kubectl", "oc"],
        after: None,
        flags: &[attached("--from-literal=", Shape::After(b'=')), next("--from-literal", Shape::After(b'='))],
    },
    Program {
        names: &["gh", "fly", "wrangler"],
        after: Some("secret"),
        flags: &[next("-b", Shape::Whole), next("--body", Shape::Whole), attached("--body=", Shape::Whole)],
    },
];

/// Programs that run another: the command proper starts after them.
const WRAPPERS: &[&str] = &[
    "sudo", "doas", "env", "nice", "nohup", "time", "timeout", "xargs", "exec", "command", "ionice", "stdbuf",
    "setsid", "watch", "strace", "unbuffer", "chroot", "faketime", "builtin",
];

/// Walks over the arguments of one command.
#[derive(Default)]
pub(crate) struct FlagReader {
    seen_command: bool,
    /// A wrapper came first: words that are no known program may be values of its flags (`sudo -u root`).
    wrapped: bool,
    programs: Vec<&'static Program>,
    words: Vec<&'static str>,
    pending: Option<(u8, Shape, &'static str)>,
    after_set: bool,
}

/// A secret inside an argument.
pub(crate) struct Secret {
    pub(crate) range: Range<usize>,
    pub(crate) rule: &'static str,
}

impl FlagReader {
    /// Reads the next argument, the program's name first.
    pub(crate) fn read(&mut self, argument: &[u8]) -> Option<Secret> {
        if let Some((skip, shape, rule)) = self.pending.take() {
            if skip > 0 {
                self.pending = Some((skip - 1, shape, rule));
            }
            // A flag where its value should be: the flag before took none.
            let flag = argument.starts_with(b"-") && (skip > 0 || !value::looks_secret(argument));
            if skip == 0 && !flag {
                return secret_in(argument, 0, shape, rule);
            }
        }
        if !self.seen_command {
            let first = !self.wrapped;
            // `set -x NAME VALUE`, `setx NAME VALUE`, as other shells set their environment.
            self.after_set = matches!(argument, b"set" | b"setx" | b"setenv");
            self.read_command(argument);
            if first || self.seen_command {
                return None;
            }
        }
        self.read_flag(argument)
    }

    fn read_command(&mut self, argument: &[u8]) {
        let skipped = argument.starts_with(b"-")
            || argument.contains(&b'=')
            || argument.iter().all(|byte| byte.is_ascii_digit() || b".smh".contains(byte));
        if skipped {
            return;
        }
        let name = argument.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if WRAPPERS.iter().any(|wrapper| wrapper.as_bytes() == name) {
            self.wrapped = true;
            return;
        }
        self.programs =
            PROGRAMS.iter().filter(|program| program.names.iter().any(|known| known.as_bytes() == name)).collect();
        self.seen_command = !self.wrapped || !self.programs.is_empty();
    }

    fn read_flag(&mut self, argument: &[u8]) -> Option<Secret> {
        for program in &self.programs {
            if program.after.is_some_and(|word| !self.words.contains(&word)) {
                if program.after.is_some_and(|word| word.as_bytes() == argument) {
                    self.words.extend(program.after);
                }
                continue;
            }
            for flag in program.flags {
                let text = flag.text.as_bytes();
                match flag.place {
                    Place::Later(skip) if argument == text => {
                        self.pending = Some((skip, flag.shape, "command-secret"));
                        return None;
                    }
                    Place::Attached if argument.len() > text.len() && argument.starts_with(text) => {
                        return secret_in(argument, text.len(), flag.shape, "command-secret");
                    }
                    _ => {}
                }
            }
        }
        self.read_long_flag(argument);
        None
    }

    /// Reads `--token`, whose value comes next, and `set aws_secret_access_key`, whose value does too.
    fn read_long_flag(&mut self, argument: &[u8]) {
        let sets = argument == b"set" || self.after_set && argument.len() <= 3 && argument.starts_with(b"-");
        let after_set = std::mem::replace(&mut self.after_set, sets);
        let dashes = argument.iter().take_while(|byte| **byte == b'-').count();
        let name = &argument[dashes..];
        if (dashes == 0 && !after_set) || name.len() < 4 || !Set::NAME.or(Set::SLASH).or(Set::COLON).has_all(name) {
            return;
        }
        let name = name.rsplit(|byte| b":/".contains(byte)).next().unwrap_or_default();
        if let Some(judged) = name::judge(name) {
            let shape = if judged.strength == Strength::Weak && !name.to_ascii_lowercase().ends_with(b"token") {
                Shape::Likely
            } else {
                Shape::Whole
            };
            self.pending = Some((0, shape, judged.rule));
        }
    }
}

fn secret_in(argument: &[u8], from: usize, shape: Shape, rule: &'static str) -> Option<Secret> {
    let body = argument.get(from..)?;
    let skip = match shape {
        Shape::Whole => 0,
        Shape::Likely if value::looks_secret(body) => 0,
        Shape::Likely => return None,
        Shape::After(separator) => body.iter().position(|byte| *byte == separator)? + 1,
        Shape::PassSource => body.strip_prefix(b"pass:").map(|_| 5)?,
    };
    let secret = &body[skip..];
    let unlikely = value::is_stand_in(secret)
        || value::is_path(secret)
        || secret.starts_with(b"pass:")
        || secret.starts_with(b"@");
    (!unlikely).then_some(Secret { range: from + skip..argument.len(), rule })
}
