//! What `--help` says of each command beyond its options.
//!
//! Texts only, each with an example and the exit statuses.

pub(super) const RUN_HELP: &str = "\
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

pub(super) const SERVE_HELP: &str = "\
Routes:
  GET /events?after=CURSOR&payloads=0&session=ID: what is on record, and what comes,
  as server-sent events
  POST /shell-event, POST /kernel-event: one batch
  202 once it is in the journal    401 without a known token
  403 for kernel events with a session's token: they belong to no session
  413 over 4 MiB                   400 with a reason for what is not a batch
  408 after 15 s without its end   404, 405 for other routes and methods
  503 where it could not be kept

Exit status:
  0 after SIGTERM or SIGINT; 1 where it could not start; 2 for bad usage and for
  rules that can't be used

Example:
  nash-correlate serve --listen 127.0.0.1:7171 --token-file token --follow";

pub(super) const ANALYZE_HELP: &str = "\
What can be read:
  spool directories and spool files, receivers' journals, shells' journals, batches
  of kernel observers, replies of drain; plain or compressed with zstd; - is
  standard input. The content decides, never the name.
  A damaged line costs itself: it is told, counted and left out.

Exit status:
  0; 1 where a path could not be read, 2 for bad usage and for rules that can't be
  used

Example:
  nash-correlate analyze /var/spool/nucleic-nash accepted.ndjson.zst
  zstdcat old.zst | nash-correlate analyze --format ndjson - | jq .argv";

pub(super) const EXPORT_HELP: &str = "\
What can be read is what analyze reads. The forms:
  html      one file with everything in it, for a browser: send it to somebody
  perfetto  a trace for ui.perfetto.dev or chrome://tracing
  json, ndjson, tree  as with analyze

Exit status:
  as with analyze

Example:
  nash-correlate export --output story.html /var/spool/nucleic-nash
  nash-correlate export --format perfetto --output trace.json accepted.ndjson";

pub(super) const BYPASS_HELP: &str = "\
What can be read is what analyze reads. A finding is proved where the kernel's
stream proves it, and claimed where it rests on a shell's word or on something
that is missing. Without a kernel's stream, what can't be found is listed.

Exit status:
  0 where nothing was found, 3 where something was, 2 for bad usage and for rules
  that can't be used, 1 where something could not be read and nothing was found in
  the rest

Example:
  nash-correlate bypass accepted.ndjson && echo 'nothing out of sight'
  nash-correlate bypass --json /var/spool/nucleic-nash | jq .findings";

pub(super) const DRAIN_HELP: &str = "\
Prints one line:
  {\"op\":\"shell-events\",\"files\":2,\"skipped\":0,\"dataB64\":\"…\"}
  dataB64 holds batches, one a line. Call again until files is 0.

Files go only when the host has them:
  with --ack TOKEN, when a line with that token comes on standard input;
  without it, when standard input ends after the reply was written.

Exit status:
  0; 1 where the spool could not be read; 2 for bad usage; 3 where nobody
  acknowledged in time: everything is still there

Example:
  ssh vm nash-correlate drain --spool /var/spool/nucleic-nash --ack 4711
  # and 4711 to its standard input once the reply is safe";

pub(super) const DOCTOR_HELP: &str = "\
Looks at the shell, at the way of its events and at the kernel, and says for each
lack what would change it. Changes nothing. Run it as the user, and with the
environment, that agents have.

Exit status:
  0 where commands are observed, 3 where something for that is missing, 2 for bad
  usage

Example:
  nash-correlate doctor
  nash-correlate doctor --json | jq '.checks[] | select(.state != \"ok\")'";

pub(super) const COMPLETIONS_HELP: &str = "\
Example:
  nash-correlate completions bash > /usr/share/bash-completion/completions/nash-correlate";

pub(super) const MAN_HELP: &str = "\
Example:
  nash-correlate man /usr/local/share/man/man1";
