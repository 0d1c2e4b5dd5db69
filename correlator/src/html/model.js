// The story as a tree of rows: which row stands below which, and what one can search in it.
//
// Data only: nothing here touches the page. Every text in the story is a stranger's; it is only ever compared and measured.
"use strict";

const story = JSON.parse(document.getElementById("story").textContent);

/** Characters that are invisible, change direction or are control characters. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** Spells one of them out. */
function spelled(character) {
  const known = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "\u001b": "\\e", "\u0000": "\\0" };
  const code = character.codePointAt(0);
  return known[character] || (code < 256 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u{" + code.toString(16) + "}");
}

/** A text in which everything can be seen. */
function visible(text) {
  return String(text).replace(UNSEEN, spelled);
}

/** A word as one would type it. */
function quoted(word) {
  word = String(word);
  if (/^[A-Za-z0-9_\/.:@%+,^\]\[{}-][A-Za-z0-9_\/.:=@%+,^~\]\[{}#-]*$/.test(word)) return word;
  if (word.search(UNSEEN) >= 0) return "$'" + visible(word.replace(/[\\']/g, "\\$&")) + "'";
  return "'" + word.replace(/'/g, "'\\''") + "'";
}

function size(count) {
  if (count < 1024) return count + " B";
  for (const unit of ["KiB", "MiB", "GiB"]) {
    count /= 1024;
    if (count < 1000) return (count < 10 ? count.toFixed(1) : Math.floor(count)) + " " + unit;
  }
  return (count / 1024).toFixed(1) + " TiB";
}

function duration(ms) {
  if (ms < 10) return ms.toFixed(1) + " ms";
  if (ms < 1000) return Math.floor(ms) + " ms";
  if (ms < 60000) return (ms / 1000).toFixed(2) + " s";
  const minutes = Math.floor(ms / 60000);
  if (minutes < 60) return minutes + " m " + String(Math.floor(ms / 1000) % 60).padStart(2, "0") + " s";
  return Math.floor(minutes / 60) + " h " + String(minutes % 60).padStart(2, "0") + " m";
}

const SIGNALS = ("HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG " +
  "XCPU XFSZ VTALRM PROF WINCH IO PWR SYS").split(" ");

function signal(number) {
  return SIGNALS[number - 1] ? "SIG" + SIGNALS[number - 1] : "signal " + number;
}

/** How a command ended: a class, a sign, and words where the sign does not say it all. */
function outcome(command) {
  if (command.state === "running") return { kind: "open", sign: "●", words: "no end seen" };
  if (command.state === "replaced") return { kind: "quiet", sign: "⇒", words: "took the shell's place" };
  if (command.compound) return { kind: "quiet", sign: "·", words: "" };
  if (!command.argv && command.cmdsubs && !command.redirects) return { kind: "quiet", sign: "=", words: "" };
  if (!command.argv) return { kind: "open", sign: "?", words: "" };
  if (command.signal != null) return { kind: "bad", sign: "✗", words: signal(command.signal) };
  if (command.exitCode === 0) return { kind: "good", sign: "✓", words: "" };
  if (command.exitCode == null) return { kind: "open", sign: "?", words: "how it ended is not known" };
  const error = command.error ? ": " + visible(command.error) : "";
  const words = command.exitCode === 127 && error ? "not found" : "exit " + command.exitCode + error;
  return { kind: "bad", sign: "✗", words };
}

function tookMs(item) {
  if (item.durationUs != null) return item.durationUs / 1000;
  if (item.durationMs != null) return item.durationMs;
  return item.endedAtMs != null && item.startedAtMs != null ? item.endedAtMs - item.startedAtMs : null;
}

/** Levels of nesting that a command's parent does not have as well. */
function ownLevels(command, parent) {
  const stack = (command.nesting && command.nesting.stack) || [];
  const above = (parent && parent.nesting && parent.nesting.stack) || [];
  let shared = 0;
  while (shared < above.length && shared < stack.length && above[shared] === stack[shared]) shared += 1;
  const isParentsOwn = (level) => parent && parent.argv && (level === "function:" + parent.argv[0] || level.startsWith("source:"));
  return stack.slice(shared).filter((level) => !isParentsOwn(level));
}

const LEVELS = { subshell: "( )", cmdsub: "$( )", procsub: "<( )", background: "&" };

function levelSign(level) {
  if (LEVELS[level]) return LEVELS[level];
  const [kind, ...name] = level.split(":");
  if (kind === "function") return visible(name.join(":")) + "()";
  if (kind === "source") return ". " + visible(name.join(":"));
  return visible(level.replace(":", " "));
}

/** Every row, in the order of reading; a row knows its depth, its parent's place and its place. */
const rows = [];
/** The rows of commands by shell and number. */
const rowOfCommand = new Map();
/** Processes by the command that they belong to, and by their number. */
const processesOf = new Map();
const processById = new Map();

function commandKey(shellId, cmd) {
  return shellId + " " + cmd;
}

function addRow(row, parent) {
  row.index = rows.length;
  row.parent = parent;
  row.depth = parent ? parent.depth + 1 : 0;
  row.root = parent ? parent.root : row;
  if (row.startedAtMs != null) {
    row.root.firstMs = Math.min(row.root.firstMs ?? Infinity, row.startedAtMs);
    row.root.lastMs = Math.max(row.root.lastMs ?? -Infinity, row.startedAtMs + (row.tookMs || 0));
  }
  row.size = 0;
  for (let above = parent; above; above = above.parent) above.size += 1;
  rows.push(row);
  return row;
}

/** Lays a shell's commands out below its row, and the shells that they started below them. */
function addShell(shell, parent, shellsBelow, waiting) {
  const row = addRow({ kind: "shell", shell, startedAtMs: shell.startedAtMs, tookMs: tookMs(shell), failed: shell.exitCode > 0 }, parent);
  const byCmd = new Map();
  for (const command of shell.commands) if (command.cmd != null) byCmd.set(command.cmd, command);
  const below = new Map();
  for (const command of shell.commands) {
    const above = command.parent && byCmd.has(command.parent.cmd) ? command.parent.cmd : null;
    if (!below.has(above)) below.set(above, []);
    below.get(above).push(command);
  }
  for (const [above, commands] of below) below.set(above, pipelinesTogether(commands));
  // Deep trees come from strangers: no recursion.
  const pending = (below.get(null) || []).slice().reverse().map((command) => ({ command, row, above: null }));
  const after = [];
  while (pending.length > 0) {
    const next = pending.pop();
    const own = addCommand(shell, next.command, next.row, next.above);
    const inside = (next.command.cmd != null && below.get(next.command.cmd)) || [];
    for (const command of inside.slice().reverse()) pending.push({ command, row: own, above: next.command });
    const key = commandKey(shell.shellId, next.command.cmd);
    for (const inner of shellsBelow.get(key) || []) after.push({ shell: inner, row: own });
  }
  for (const inner of shellsBelow.get(commandKey(shell.shellId, null)) || []) after.push({ shell: inner, row });
  waiting.push(...after);
}

/** The elements of a pipeline start in any order; they are read in that of the pipe. */
function pipelinesTogether(commands) {
  const elements = new Map();
  for (const command of commands) {
    const id = command.pipeline && command.pipeline.id;
    if (id == null) continue;
    if (!elements.has(id)) elements.set(id, []);
    elements.get(id).push(command);
  }
  const inOrderOfPipe = (id) => elements.get(id).slice().sort((a, b) => a.pipeline.index - b.pipeline.index);
  const first = (command) => elements.get(command.pipeline.id)[0] === command;
  return commands.flatMap((command) => {
    if (!command.pipeline) return [command];
    return first(command) ? inOrderOfPipe(command.pipeline.id) : [];
  });
}

function addCommand(shell, command, parent, above) {
  const ended = outcome(command);
  const row = addRow({
    kind: "command", shell, command, outcome: ended, levels: ownLevels(command, above),
    startedAtMs: command.startedAtMs, tookMs: tookMs(command), failed: ended.kind === "bad",
    link: linkTo(shell, command),
  }, parent);
  if (command.cmd != null) rowOfCommand.set(commandKey(shell.shellId, command.cmd), row);
  addProcesses(shell, command, row);
  return row;
}

/** The link of a pipeline that a command reads from. */
function linkTo(shell, command) {
  const place = command.pipeline;
  if (!place || place.index === 0) return null;
  if (!shell.links) {
    shell.links = new Map(shell.pipes.map((pipe) => [pipe.pipelineId + " " + pipe.toIndex, pipe]));
  }
  return shell.links.get(place.id + " " + place.index) || {};
}

/** Finds the processes of each command, and those that each process made. */
function sortProcesses() {
  for (const process of story.processes || []) {
    processById.set(process.id, process);
    if (!process.owner || process.owner.cmd == null) continue;
    const key = commandKey(process.owner.shellId, process.owner.cmd);
    if (!processesOf.has(key)) processesOf.set(key, []);
    processesOf.get(key).push(process);
  }
}

/** A list of processes as a tree: those whose parent is not in the list, and what is below each. */
function processForest(processes) {
  const inside = new Set(processes.map((process) => process.id));
  const below = new Map();
  for (const process of processes) {
    const above = inside.has(process.parent) && process.parent !== process.id ? process.parent : null;
    if (!below.has(above)) below.set(above, []);
    below.get(above).push(process);
  }
  return below;
}

/** Rows for the processes below a command's own. */
function addProcesses(shell, command, row) {
  const held = processesOf.get(commandKey(shell.shellId, command.cmd)) || [];
  const below = processForest(held.filter((process) => process.role !== "shell"));
  const pending = (below.get(null) || []).slice().reverse().map((process) => ({ process, parent: row }));
  while (pending.length > 0) {
    const { process, parent } = pending.pop();
    const failed = process.signal != null || process.exitCode > 0;
    // The command's own process is the command's row.
    const own = process.role === "command" && parent === row ? row
      : addRow({ kind: "process", shell, process, startedAtMs: process.startedAtMs, tookMs: tookMs(process), failed, outcome: processOutcome(process) }, parent);
    for (const inner of (below.get(process.id) || []).slice().reverse()) pending.push({ process: inner, parent: own });
  }
}

function processOutcome(process) {
  if (process.signal != null) return { kind: "bad", sign: "✗", words: signal(process.signal) };
  if (process.exitCode > 0) return { kind: "bad", sign: "✗", words: "exit " + process.exitCode };
  return { kind: "quiet", sign: process.exitCode === 0 ? "·" : "●", words: "" };
}

/** What an effect is called: an open by what it is for. */
function doing(effect) {
  if (effect.kind !== "open") return effect.kind;
  return effect.flags & 3 ? "write" : "read";
}

/** What a process ran last, and how it was called. */
function program(process) {
  const ran = (process.execs || []).filter((exec) => exec.result == null || exec.result >= 0);
  const last = ran[ran.length - 1];
  const words = last && (last.argv || []).map(quoted).join(" ");
  return { path: (last && last.path) || "", words: words || visible((last && last.path) || process.comm || "a fork") };
}

function build() {
  const known = new Set(story.shells.map((shell) => shell.shellId));
  const below = new Map();
  const roots = [];
  for (const shell of story.shells) {
    const place = shell.placement;
    if (place && known.has(place.shellId)) {
      const key = commandKey(place.shellId, place.cmd == null ? null : place.cmd);
      if (!below.has(key)) below.set(key, []);
      below.get(key).push(shell);
    } else {
      roots.push(shell);
    }
  }
  sortProcesses();
  const waiting = roots.map((shell) => ({ shell, row: null }));
  while (waiting.length > 0) {
    const next = waiting.shift();
    addShell(next.shell, next.row, below, waiting);
  }
  inOrder();
}

/** Shells that were found later are moved below the rows that they belong to. */
function inOrder() {
  const children = new Map();
  for (const row of rows) {
    if (!children.has(row.parent)) children.set(row.parent, []);
    children.get(row.parent).push(row);
  }
  const pending = (children.get(null) || []).slice().reverse();
  rows.length = 0;
  while (pending.length > 0) {
    const row = pending.pop();
    row.index = rows.length;
    rows.push(row);
    pending.push(...(children.get(row) || []).slice().reverse());
  }
}

/** What a search looks at in a row: words, paths, and the beginnings of data. */
function searchText(row) {
  if (row.text) return row.text;
  const said = [];
  if (row.kind === "shell") {
    said.push(...((row.shell.start && row.shell.start.argv) || []), row.shell.shellId, row.shell.sessionId);
  } else if (row.kind === "process") {
    said.push(...processText(row.process));
  } else {
    const command = row.command;
    said.push(...(command.argv || []), command.resolvedPath, command.cwd, command.error, row.outcome.words);
    for (const redirect of command.redirects || []) said.push(redirect.op, redirect.target.path, decoded(redirect));
    for (const text of command.cmdsubs || []) said.push(decoded(text));
    for (const event of command.events || []) said.push(event.kind, event.what, event.reason);
    if (row.link) said.push(decoded(row.link));
    for (const process of processesOf.get(commandKey(row.shell.shellId, command.cmd)) || []) {
      if (process.role === "command") said.push(...processText(process));
    }
  }
  row.text = said.filter((text) => text != null).join("\n").toLowerCase();
  return row.text;
}

function processText(process) {
  const said = [String(process.pid), process.comm];
  for (const exec of process.execs || []) said.push(exec.path, ...(exec.argv || []));
  for (const effect of process.effects || []) said.push(effect.kind, effect.path, effect.newPath, effect.address);
  return said;
}

/** A preview's bytes; nothing where there is none. */
function previewBytes(data) {
  if (!data || !data.previewB64) return null;
  return Uint8Array.from(atob(data.previewB64), (character) => character.charCodeAt(0));
}

/** A preview as text; nothing where it is none. */
function decoded(data) {
  const bytes = previewBytes(data);
  if (!bytes || bytes.includes(0)) return null;
  return new TextDecoder().decode(bytes);
}

build();
