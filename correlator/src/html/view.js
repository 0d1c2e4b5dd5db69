// The list of commands: rows, search, filters, keys.
//
// Text reaches the page through `textContent` alone, whatever it says. Details of one row stand in the panel's file.

/** Rows that are put on the page at once; the rest follows when it is asked for. */
const ROWS_AT_ONCE = 2000;

const $ = (id) => document.getElementById(id);

/** Makes an element with a class and content: texts and other elements. */
function make(tag, className, ...content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const piece of content) {
    if (piece != null) element.append(piece);
  }
  return element;
}

/** A text with what can't be seen spelled out and set apart. */
function seen(text) {
  const piece = document.createDocumentFragment();
  let from = 0;
  text = String(text);
  for (const match of text.matchAll(UNSEEN)) {
    piece.append(text.slice(from, match.index), make("span", "unseen", spelled(match[0])));
    from = match.index + match[0].length;
  }
  piece.append(text.slice(from));
  return piece;
}

const view = { query: "", filter: "all", folded: new Set(), shown: [], selected: null, limit: ROWS_AT_ONCE };

// Processes are many: they are there to be unfolded.
for (const row of rows) {
  if (row.kind !== "process") continue;
  let above = row.parent;
  while (above.kind === "process") above = above.parent;
  above.processes = (above.processes || 0) + 1;
  view.folded.add(above);
}

const starts = rows.map((row) => row.startedAtMs).filter((ms) => ms != null);
const firstMs = starts.reduce((least, ms) => Math.min(least, ms), Infinity);
const lastMs = rows.reduce((most, row) => Math.max(most, (row.startedAtMs || 0) + (row.tookMs || 0)), -Infinity);

const FILTERS = {
  all: () => true,
  failed: (row) => row.failed,
  writes: (row) => row.kind === "command" && (row.command.redirects || []).some((redirect) => writes(redirect)),
  data: (row) => row.kind === "command" && Boolean(row.link || (row.command.redirects || []).length || (row.command.cmdsubs || []).length),
  warned: (row) => warningsOf(row).length > 0,
};

function writes(redirect) {
  return redirect.target.path != null && ["write", "append", "read-write"].includes(redirect.mode);
}

function warningsOf(row) {
  const events = (row.kind === "shell" ? row.shell : row.command || {}).events || [];
  return events.filter((event) => ["fallback", "tamper", "denied"].includes(event.kind));
}

function warningText(event) {
  if (event.kind === "fallback") return "handed to " + visible(event.shell || "the real shell") + ", unobserved from here: " + visible(event.reason);
  if (event.kind === "tamper") return "tampered with the observation: " + visible(event.what);
  return "denied by " + visible(event.rule) + (event.reason ? ": " + visible(event.reason) : "");
}

/** How much data there was, and how it begins. */
function amount(data) {
  const text = data.bytes == null ? null : decoded(data);
  const start = text ? visible(text.replace(/\n$/, "").slice(0, 40)) : "";
  const chip = make("span", "chip");
  if (data.bytes != null) chip.append(size(data.bytes));
  if (text) chip.append(make("q", "", start + (text.length > 41 || data.truncated ? "…" : "")));
  else if (data.previewB64) chip.append(" binary");
  for (const rule of data.redacted || []) chip.append(make("span", "masked", "masked: " + visible(rule)));
  if (data.error) chip.append(make("span", "failed", visible(data.error)));
  return chip;
}

function redirectText(redirect) {
  const target = redirect.target;
  if (target.path != null) return visible(redirect.op) + " " + quoted(target.path);
  if (target.fd != null) return visible(redirect.op) + target.fd;
  if (target.procsub != null) return visible(redirect.op) + (redirect.op.includes(">") ? " >( )" : " <( )");
  return visible(redirect.op);
}

/** What a row says, on one line. */
function words(row) {
  const line = make("span", "words");
  if (row.kind === "shell") {
    const start = row.shell.start;
    line.append(make("b", "", start ? start.argv.map(quoted).join(" ") : "shell " + row.shell.shellId.slice(0, 8)));
    if (start && start.cwd) line.append(make("span", "quiet", " in " + visible(start.cwd)));
    return line;
  }
  if (row.kind === "process") return processWords(row.process, line);
  const command = row.command;
  for (const level of row.levels) line.append(make("span", "level", levelSign(level)), " ");
  if (row.link) {
    line.append(make("span", "operator", "|"), " ");
    if (row.link.bytes != null) line.append(amount(row.link), " ");
  }
  for (const name of command.assigns || []) line.append(make("span", "quiet", visible(name) + "=… "));
  if (command.argv) {
    command.argv.forEach((word, index) => line.append(index ? " " : "", make("span", index ? "word" : "name", quoted(word))));
    if (command.argvTruncated) line.append(make("span", "quiet", " …" + (command.argc ? " (" + command.argc + " words)" : "")));
  } else {
    const construct = (command.redirects || []).map((redirect) => redirect.construct).find(Boolean);
    line.append(make("span", "quiet", command.compound ? visible(construct || "{ }") + " …" : command.cmdsubs ? "an assignment" : "a command that was not reported"));
  }
  for (const redirect of command.redirects || []) {
    line.append(" ", make("span", "operator", redirectText(redirect)), " ");
    if (redirect.bytes != null || redirect.error) line.append(amount(redirect));
  }
  for (const text of command.cmdsubs || []) {
    line.append(" ", make("span", "operator", (text.assign ? visible(text.assign) + "=" : "") + "$( ) →"), " ", amount(text));
  }
  return line;
}

/** Changes that a row of a process names; the others are in its details. */
const CHANGES_NAMED = 3;

function processWords(process, line) {
  const ran = program(process);
  line.append(make("span", "word", ran.words));
  const changes = (process.effects || []).filter((effect) => !effect.background && effect.path != null && doing(effect) !== "read");
  for (const effect of changes.slice(0, CHANGES_NAMED)) line.append(" ", make("span", "chip", visible(doing(effect)) + " " + visible(effect.path)));
  if (changes.length > CHANGES_NAMED) line.append(" ", make("span", "chip", "+" + (changes.length - CHANGES_NAMED)));
  return line;
}

function rowElement(row) {
  const element = make("div", "row " + row.kind);
  element.id = "row-" + row.index;
  element.setAttribute("role", "treeitem");
  element.setAttribute("aria-level", row.depth + 1);
  element.setAttribute("aria-selected", "false");
  element.tabIndex = -1;
  const fold = make("span", "fold", row.size ? (view.folded.has(row) ? "▸" : "▾") : "");
  if (row.size) {
    element.setAttribute("aria-expanded", String(!view.folded.has(row)));
    fold.title = row.size + " below";
  }
  const indent = make("span", "indent");
  indent.style.width = Math.min(row.depth, 24) * 1.1 + "rem";
  const ended = row.kind === "shell" ? shellOutcome(row.shell) : row.outcome;
  const left = make("span", "left", indent, fold, make("span", "sign " + ended.kind, ended.sign), words(row));
  for (const event of warningsOf(row)) left.append(make("span", "warning", "! " + warningText(event)));
  if (ended.words) left.append(make("span", "ended " + ended.kind, ended.words));
  const inside = row.processes;
  if (inside) left.append(make("span", "count", inside + (inside === 1 ? " process" : " processes")));
  element.append(left, bar(row), make("span", "took", row.tookMs != null && row.tookMs >= 0.1 ? duration(row.tookMs) : ""));
  fold.addEventListener("click", (event) => { event.stopPropagation(); toggle(row); });
  element.addEventListener("click", () => select(row));
  return element;
}

function shellOutcome(shell) {
  if (shell.state === "running") return { kind: "open", sign: "●", words: "no end seen" };
  if (shell.state === "fell-back") return { kind: "open", sign: "!", words: "went to the real shell" };
  if (shell.exitCode > 0) return { kind: "bad", sign: "▪", words: "exit " + shell.exitCode };
  return { kind: "quiet", sign: "▪", words: "" };
}

/** Where in the time of its outermost shell a row stands. */
function bar(row) {
  const track = make("span", "track");
  const { firstMs, lastMs } = row.root;
  const whole = lastMs - firstMs;
  if (row.startedAtMs == null || !(whole > 0)) return track;
  const mark = make("span", "bar" + (row.failed ? " failed" : ""));
  mark.style.left = Math.min(99, Math.max(0, (row.startedAtMs - firstMs) / whole * 100)) + "%";
  mark.style.width = Math.max(0, Math.min(100, (row.tookMs || 0) / whole * 100)) + "%";
  track.title = "+" + duration(Math.max(0, row.startedAtMs - firstMs));
  track.append(mark);
  return track;
}

/** The rows that a search, a filter and folding leave. A match shows what it stands in. */
function wanted() {
  const terms = view.query.toLowerCase().split(/\s+/).filter(Boolean);
  const filter = FILTERS[view.filter];
  const all = view.filter === "all" && terms.length === 0;
  const kept = new Set();
  let matches = 0;
  for (const row of rows) {
    if (!all && !(filter(row) && terms.every((term) => searchText(row).includes(term)))) continue;
    matches += 1;
    for (let above = row; above && !kept.has(above); above = above.parent) kept.add(above);
  }
  const isFolded = (row) => { for (let above = row.parent; above; above = above.parent) if (view.folded.has(above)) return true; return false; };
  return { matches, shown: rows.filter((row) => kept.has(row) && !(all && isFolded(row))) };
}

function draw() {
  const { matches, shown } = wanted();
  view.shown = shown;
  const list = document.createDocumentFragment();
  for (const row of shown.slice(0, view.limit)) list.append(rowElement(row));
  if (shown.length > view.limit) {
    const more = make("button", "more", "Show more (" + (shown.length - view.limit) + " left)");
    more.addEventListener("click", () => { view.limit += ROWS_AT_ONCE; draw(); });
    list.append(more);
  }
  if (shown.length === 0) list.append(make("p", "none", "Nothing fits. Esc clears the search."));
  $("rows").replaceChildren(list);
  $("matches").textContent = view.query || view.filter !== "all" ? matches + " of " + rows.length : "";
  if (view.selected && shown.includes(view.selected)) mark(view.selected);
}

function toggle(row) {
  if (!row.size) return;
  if (!view.folded.delete(row)) view.folded.add(row);
  draw();
  $("row-" + row.index)?.focus();
}

function mark(row) {
  for (const other of document.querySelectorAll(".row.selected")) {
    other.classList.remove("selected");
    other.setAttribute("aria-selected", "false");
  }
  const element = $("row-" + row.index);
  element?.classList.add("selected");
  element?.setAttribute("aria-selected", "true");
  return element;
}

/** Shows a row's details; where the list does not show the row itself, search and filter go. */
function select(row) {
  if (!view.shown.includes(row)) {
    [view.query, view.filter] = ["", "all"];
    $("search").value = "";
    for (let above = row.parent; above; above = above.parent) view.folded.delete(above);
    draw();
  }
  const place = view.shown.indexOf(row);
  if (place >= view.limit) { view.limit = place + ROWS_AT_ONCE; draw(); }
  view.selected = row;
  const element = mark(row);
  element?.focus({ preventScroll: true });
  element?.scrollIntoView({ block: "nearest" });
  showDetails(row);
}
