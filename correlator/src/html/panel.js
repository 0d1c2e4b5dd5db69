// The page around the list: details of a row, findings, what was seen, keys.
//
// Like the list, it writes foreign text through `textContent` alone.

/** Processes of one command that are drawn. */
const PROCESSES_SHOWN = 500;
/** Effects of one process that are drawn. */
const EFFECTS_SHOWN = 200;

function field(name, ...content) {
  const value = make("dd", "", ...content);
  return value.textContent === "" ? [] : [make("dt", "", name), value];
}

function clock(ms) {
  return ms == null ? "" : new Date(ms).toISOString().replace("T", " ").replace("Z", " UTC");
}

/** A piece of data with as much of its beginning as there is, as text or in hexadecimal digits. */
function dataBlock(title, data) {
  const block = make("section", "data", make("h3", "", title));
  const facts = [];
  if (data.bytes != null) facts.push(size(data.bytes) + (data.bytes >= 1024 ? " (" + data.bytes + " bytes)" : ""));
  if (data.mode) facts.push(visible(data.mode));
  if (data.changed) facts.push("changed meanwhile");
  if (data.stillOpen) facts.push("was still open");
  if (data.tapFailed) facts.push("its tap failed");
  if (data.error) facts.push(visible(data.error));
  const line = make("p", "quiet", facts.join(" · "));
  for (const rule of data.redacted || []) line.append(" ", make("span", "masked", "masked: " + visible(rule)));
  block.append(line);
  const bytes = previewBytes(data);
  if (bytes && bytes.length > 0) {
    const text = decoded(data);
    const shown = make("pre", "preview");
    const draw = (asHex) => shown.replaceChildren(asHex ? hex(bytes) : seenLines(text));
    draw(text == null);
    if (text != null) {
      const button = make("button", "small", "hex");
      button.addEventListener("click", () => {
        const asHex = button.textContent === "hex";
        button.textContent = asHex ? "text" : "hex";
        draw(asHex);
      });
      block.append(button);
    }
    block.append(shown);
    if (data.truncated) block.append(make("p", "badge", "the beginning only: " + size(bytes.length)));
  }
  if (data.sha256) {
    const over = data.hashOf ? " of the masked bytes" : data.hashedBytes != null ? " of the first " + size(data.hashedBytes) : "";
    block.append(make("p", "hash", "sha256" + over + " ", make("code", "", visible(data.sha256))));
  }
  return block;
}

/** A text whose lines stay lines. */
function seenLines(text) {
  const piece = document.createDocumentFragment();
  text.split("\n").forEach((line, index) => piece.append(index ? "\n" : "", seen(line.replace(/\t/g, "    "))));
  return piece;
}

function hex(bytes) {
  const lines = [];
  for (let at = 0; at < Math.min(bytes.length, 4096); at += 16) {
    const part = Array.from(bytes.slice(at, at + 16));
    const digits = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = part.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(at.toString(16).padStart(6, "0") + "  " + digits.padEnd(48) + " " + text);
  }
  return lines.join("\n");
}

/** The processes that a command started, as a tree. */
function processTree(processes) {
  const block = make("section", "processes", make("h3", "", "Processes"));
  const below = processForest(processes);
  const pending = (below.get(null) || []).slice().reverse().map((process) => ({ process, depth: 0 }));
  let drawn = 0;
  while (pending.length > 0 && drawn < PROCESSES_SHOWN) {
    const { process, depth } = pending.pop();
    drawn += 1;
    block.append(processBlock(process, depth));
    for (const inner of (below.get(process.id) || []).slice().reverse()) pending.push({ process: inner, depth: depth + 1 });
  }
  if (drawn < processes.length) block.append(make("p", "quiet", processes.length - drawn + " more are not drawn"));
  return block;
}

function processBlock(process, depth) {
  const block = make("div", "made");
  block.style.marginLeft = Math.min(depth, 20) + "rem";
  const ran = program(process);
  const head = make("p", "", make("span", "quiet", process.pid + " "), make("span", "name", ran.words), " ");
  const ended = processOutcome(process);
  if (ended.words) head.append(make("span", "ended bad", ended.words), " ");
  if (ran.path) head.append(make("span", "quiet", visible(ran.path)));
  block.append(head);
  const effects = (process.effects || []).filter((effect) => !effect.background);
  const folded = (process.effects || []).length - effects.length;
  for (const effect of effects.slice(0, EFFECTS_SHOWN)) block.append(effectLine(effect));
  if (effects.length > EFFECTS_SHOWN) block.append(make("p", "effect quiet", effects.length - EFFECTS_SHOWN + " more"));
  if (folded > 0) block.append(make("p", "effect quiet", folded + " files that nearly every program reads"));
  return block;
}

function effectLine(effect) {
  const to = effect.newPath != null ? " → " + visible(effect.newPath) : "";
  const what = effect.path != null ? visible(effect.path) : effect.address != null ? visible(effect.address) + (effect.port ? ":" + effect.port : "") : "";
  const line = make("p", "effect", make("span", "operator", visible(doing(effect))), " ", what + to);
  if (effect.count > 1) line.append(make("span", "quiet", " × " + effect.count));
  if (effect.result === -2) line.append(make("span", "quiet", " not there"));
  else if (effect.result < 0) line.append(make("span", "failed", " failed (errno " + -effect.result + ")"));
  return line;
}

function showDetails(row) {
  const panel = [];
  const facts = make("dl");
  if (row.kind === "shell") {
    const shell = row.shell;
    const start = shell.start || {};
    panel.push(make("h2", "", "Shell"), make("pre", "words", (start.argv || ["shell " + shell.shellId]).map(quoted).join(" ")));
    facts.append(...field("session", visible(shell.sessionId)), ...field("shell", visible(shell.shellId)), ...field("state", shell.state),
      ...field("exit status", shell.exitCode == null ? "" : String(shell.exitCode)), ...field("directory", visible(start.cwd || "")),
      ...field("process", start.pid == null ? "" : String(start.pid)), ...field("persona", visible(start.persona || "")),
      ...field("started", clock(shell.startedAtMs)), ...field("took", row.tookMs == null ? "" : duration(row.tookMs)),
      ...field("version", visible(start.version || "")));
    for (const [name, value] of Object.entries(shell.agent || {})) facts.append(...field(visible(name), visible(value)));
    panel.push(facts);
    for (const event of shell.events || []) panel.push(make("p", "event", make("span", "operator", visible(event.kind)), " ", eventText(event)));
  } else if (row.kind === "process") {
    panel.push(...processDetails(row, facts));
  } else {
    const command = row.command;
    panel.push(make("h2", "", "Command " + (command.cmd == null ? "" : command.cmd)));
    panel.push(make("pre", "words", command.argv ? command.argv.map(quoted).join(" ") : "…"));
    const levels = ((command.nesting && command.nesting.stack) || []).map(levelSign).join("  ");
    const place = command.pipeline ? command.pipeline.index + 1 + " of " + command.pipeline.len : "";
    facts.append(...field("ended", row.outcome.kind === "quiet" ? row.outcome.words : row.outcome.sign + " " + row.outcome.words), ...field("kind", visible(command.type || "")),
      ...field("program", visible(command.resolvedPath || "")), ...field("directory", visible(command.cwd || "")),
      ...field("process", command.pid == null ? "" : String(command.pid)), ...field("within", levels), ...field("in a pipeline", place),
      ...field("started", clock(command.startedAtMs)), ...field("took", row.tookMs == null ? "" : duration(row.tookMs)),
      ...field("masked", visible((command.redacted || []).join(", "))), ...field("events", [command.startSeq, command.seq].filter((seq) => seq != null).map((seq) => "#" + seq).join(" ")));
    panel.push(facts);
    for (const event of command.events || []) panel.push(make("p", "event", make("span", "operator", visible(event.kind)), " ", eventText(event)));
    if (row.link && row.link.seq != null) panel.push(dataBlock("Read from the pipe", row.link));
    for (const redirect of command.redirects || []) panel.push(dataBlock(redirectText(redirect), redirect));
    for (const text of command.cmdsubs || []) panel.push(dataBlock((text.assign ? visible(text.assign) + "=" : "") + "$( )", text));
    const processes = processesOf.get(commandKey(row.shell.shellId, command.cmd));
    if (processes) panel.push(processTree(processes));
  }
  $("details").replaceChildren(...panel);
  $("details").scrollTop = 0;
}

function processDetails(row, facts) {
  const process = row.process;
  const ran = program(process);
  facts.append(...field("ended", row.outcome.words || (process.exitCode === 0 ? "✓" : "no end seen")), ...field("program", visible(ran.path)),
    ...field("process", String(process.pid)), ...field("user", process.uid == null ? "" : String(process.uid)), ...field("started", clock(process.startedAtMs)),
    ...field("took", row.tookMs == null ? "" : duration(row.tookMs)), ...field("belongs by", visible((process.owner && process.owner.rule) || "")),
    ...field("doubts", visible((process.doubts || []).join(", "))));
  return [make("h2", "", "Process"), make("pre", "words", ran.words), facts, make("h3", "", "What it did"), processBlock(process, 0)];
}

function eventText(event) {
  if (["fallback", "tamper", "denied"].includes(event.kind)) return warningText(event);
  const said = [event.from, event.to && "→ " + event.to, event.op, ...(event.names || []), event.name, event.path, ...(event.signals || []), event.action];
  return seen(said.filter((text) => text != null).join(" "));
}

/** The row that a finding's evidence leads to, where one does. */
function rowOfFinding(finding) {
  for (const piece of [finding, ...(finding.evidence || [])]) {
    const row = piece && rowOfCommand.get(commandKey(piece.shellId, piece.cmd));
    if (row) return row;
  }
  const shell = [finding, ...(finding.evidence || [])].map((piece) => piece && piece.shellId).find(Boolean);
  return rows.find((row) => row.kind === "shell" && row.shell.shellId === shell);
}

function findings() {
  const list = story.findings || [];
  for (const finding of list) {
    const item = make("li", "finding " + (/^[a-z]+$/.test(finding.severity) ? finding.severity : ""));
    item.append(make("span", "severity", visible(finding.severity || "")), " ", make("b", "", visible(finding.finding || finding.kind || finding.rule || "")));
    item.append(" ", make("span", "proof", visible(finding.assurance || finding.standing || (finding.proved === true ? "proved" : ""))));
    item.append(make("span", "sentence", seen(finding.sentence || finding.summary || finding.text || "")));
    const row = rowOfFinding(finding);
    if (row) {
      const button = make("button", "small", "show");
      button.addEventListener("click", () => select(row));
      item.append(button);
    }
    $("findings").append(item);
  }
  $("findings-box").hidden = list.length === 0;
}

function head() {
  const coverage = story.coverage;
  const first = story.shells[0];
  const title = first && first.start ? first.start.argv.map(quoted).join(" ") : "The story of " + coverage.shells + " shells";
  $("title").textContent = title;
  document.title = title.slice(0, 80);
  const failed = rows.filter((row) => row.kind === "command" && row.failed).length;
  const facts = [[coverage.shells, "shell"], [coverage.commands, "command"]].map(([count, one]) => count + " " + one + (count === 1 ? "" : "s"));
  if (failed) facts.push(failed + " failed");
  if (firstMs < Infinity) facts.push(clock(firstMs), duration(lastMs - firstMs));
  if (coverage.processes) facts.splice(2, 0, coverage.processes + " processes");
  const witnesses = { shell: "Seen by the shells alone: what programs did below their commands is not known.", kernel: "Seen by the kernel alone: no shell's word came." };
  $("coverage").textContent = witnesses[coverage.witnesses] || "Seen by the shells and by the kernel.";
  $("facts").textContent = facts.join(" · ");
  for (const warning of story.warnings) $("warnings").append(make("li", "", seen(warning)));
}

function move(by) {
  const at = view.shown.indexOf(view.selected);
  const next = view.shown[Math.max(0, Math.min(view.shown.length - 1, at + by))];
  if (next) select(next);
}

function nextFailed(by) {
  const at = view.shown.indexOf(view.selected);
  for (let index = at + by; index >= 0 && index < view.shown.length; index += by) {
    if (view.shown[index].failed && view.shown[index].kind === "command") return select(view.shown[index]);
  }
  return undefined;
}

const KEYS = {
  ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1),
  PageDown: () => move(20), PageUp: () => move(-20), Home: () => move(-Infinity), End: () => move(Infinity),
  ArrowRight: () => view.selected && view.folded.has(view.selected) && toggle(view.selected),
  ArrowLeft: () => view.selected && (view.selected.size && !view.folded.has(view.selected) ? toggle(view.selected) : view.selected.parent && select(view.selected.parent)),
  Enter: () => view.selected && toggle(view.selected),
  n: () => nextFailed(1), N: () => nextFailed(-1), "/": () => $("search").focus(), t: () => theme(), "?": () => $("keys").showModal(),
  Escape: () => { [view.query, $("search").value] = ["", ""]; draw(); },
};

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
  const typing = event.target === $("search") || event.target.tagName === "SELECT";
  if (typing && event.key !== "Escape" && event.key !== "ArrowDown") return;
  if (event.target.tagName === "BUTTON" && event.key === "Enter") return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  if (typing) event.target.blur();
  act();
});
$("search").addEventListener("input", () => { [view.query, view.limit] = [$("search").value, ROWS_AT_ONCE]; draw(); });
$("filter").addEventListener("change", () => { [view.filter, view.limit] = [$("filter").value, ROWS_AT_ONCE]; draw(); });
$("theme").addEventListener("click", theme);
$("help").addEventListener("click", () => $("keys").showModal());

head();
findings();
draw();
const asked = rows[Number(location.hash.replace("#row-", "")) || 0];
if (asked) select(asked);
