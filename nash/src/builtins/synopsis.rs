//! What each of bash's builtins is called with, and what it is for in a few words.
//!
//! The first is what usage lines show. Longer help is not here: the real shell's manual has it.

/// A builtin or keyword, how it is called, and its purpose.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) usage: &'static str,
    pub(crate) purpose: &'static str,
}

const fn entry(name: &'static str, usage: &'static str, purpose: &'static str) -> Entry {
    Entry { name, usage, purpose }
}

/// Everything that `help` lists, in its order.
pub(crate) const ENTRIES: &[Entry] = &[
    entry("%", "job_spec [&]", "Go on with a job."),
    entry("(( ... ))", "(( expression ))", "Evaluate arithmetic."),
    entry(".", ". filename [arguments]", "Run a file's commands in this shell."),
    entry(":", ":", "Do nothing, successfully."),
    entry("[", "[ arg... ]", "Test a condition; needs a closing bracket."),
    entry("[[ ... ]]", "[[ expression ]]", "Test a condition."),
    entry("alias", "alias [-p] [name[=value] ... ]", "Define or show aliases."),
    entry("bg", "bg [job_spec ...]", "Let jobs go on in the background."),
    entry(
        "bind",
        "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] [keyseq:readline-function or readline-command]",
        "Show or set key bindings.",
    ),
    entry("break", "break [n]", "Leave a loop, or several."),
    entry("builtin", "builtin [shell-builtin [arg ...]]", "Run a builtin, whatever functions there are."),
    entry("caller", "caller [expr]", "Tell where the current function was called."),
    entry("case", "case WORD in [PATTERN [| PATTERN]...) COMMANDS ;;]... esac", "Choose commands by patterns."),
    entry("cd", "cd [-L|[-P [-e]] [-@]] [dir]", "Change the working directory."),
    entry("command", "command [-pVv] command [arg ...]", "Run or describe a command, leaving functions aside."),
    entry(
        "compgen",
        "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]",
        "Print possible completions.",
    ),
    entry(
        "complete",
        "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]",
        "Say how a command's words are completed.",
    ),
    entry("compopt", "compopt [-o|+o option] [-DEI] [name ...]", "Change completion options."),
    entry("continue", "continue [n]", "Go on with the next round of a loop."),
    entry("coproc", "coproc [NAME] command [redirections]", "Run a command with pipes to and from it."),
    entry(
        "declare",
        "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]",
        "Set variables and their attributes.",
    ),
    entry("dirs", "dirs [-clpv] [+N] [-N]", "Show the directory stack."),
    entry("disown", "disown [-h] [-ar] [jobspec ... | pid ...]", "Forget jobs."),
    entry("echo", "echo [-neE] [arg ...]", "Print words."),
    entry("enable", "enable [-a] [-dnps] [-f filename] [name ...]", "Turn builtins on and off."),
    entry("eval", "eval [arg ...]", "Run words as a command."),
    entry(
        "exec",
        "exec [-cl] [-a name] [command [argument ...]] [redirection ...]",
        "Run a program in the shell's place.",
    ),
    entry("exit", "exit [n]", "End the shell."),
    entry("export", "export [-fn] [name[=value] ...] or export -p", "Give variables to programs."),
    entry("false", "false", "Fail."),
    entry(
        "fc",
        "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]",
        "Show, edit or repeat commands of the history.",
    ),
    entry("fg", "fg [job_spec]", "Bring a job to the foreground."),
    entry("for", "for NAME [in WORDS ... ] ; do COMMANDS; done", "Run commands for each word."),
    entry("for ((", "for (( exp1; exp2; exp3 )); do COMMANDS; done", "Run commands while arithmetic holds."),
    entry("function", "function name { COMMANDS ; } or name () { COMMANDS ; }", "Define a function."),
    entry("getopts", "getopts optstring name [arg ...]", "Read options, one by one."),
    entry("hash", "hash [-lr] [-p pathname] [-dt] [name ...]", "Remember where programs are."),
    entry("help", "help [-dms] [pattern ...]", "Tell about builtins."),
    entry(
        "history",
        "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
        "Show or change the history.",
    ),
    entry(
        "if",
        "if COMMANDS; then COMMANDS; [ elif COMMANDS; then COMMANDS; ]... [ else COMMANDS; ] fi",
        "Run commands on a condition.",
    ),
    entry("jobs", "jobs [-lnprs] [jobspec ...] or jobs -x command [args]", "Show jobs."),
    entry(
        "kill",
        "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]",
        "Send a signal to a job.",
    ),
    entry("let", "let arg [arg ...]", "Evaluate arithmetic."),
    entry("local", "local [option] name[=value] ...", "Declare a function's own variables."),
    entry("logout", "logout [n]", "End a login shell."),
    entry(
        "mapfile",
        "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
        "Read lines into an array.",
    ),
    entry("popd", "popd [-n] [+N | -N]", "Take a directory off the stack."),
    entry("printf", "printf [-v var] format [arguments]", "Print arguments by a format."),
    entry("pushd", "pushd [-n] [+N | -N | dir]", "Put a directory on the stack."),
    entry("pwd", "pwd [-LP]", "Print the working directory."),
    entry(
        "read",
        "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]",
        "Read a line into variables.",
    ),
    entry(
        "readarray",
        "readarray [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
        "Read lines into an array.",
    ),
    entry("readonly", "readonly [-aAf] [name[=value] ...] or readonly -p", "Keep variables from changing."),
    entry("return", "return [n]", "Leave a function or a sourced file."),
    entry("select", "select NAME [in WORDS ... ;] do COMMANDS; done", "Let the user choose words."),
    entry(
        "set",
        "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]",
        "Set options and positional parameters.",
    ),
    entry("shift", "shift [n]", "Drop positional parameters."),
    entry("shopt", "shopt [-pqsu] [-o] [optname ...]", "Set or show shell options."),
    entry("source", "source filename [arguments]", "Run a file's commands in this shell."),
    entry("suspend", "suspend [-f]", "Stop the shell."),
    entry("test", "test [expr]", "Test a condition."),
    entry("time", "time [-p] pipeline", "Measure how long commands take."),
    entry("times", "times", "Print the time that was used."),
    entry("trap", "trap [-lp] [[arg] signal_spec ...]", "Run commands on signals."),
    entry("true", "true", "Succeed."),
    entry("type", "type [-afptP] name [name ...]", "Tell what a name would run."),
    entry(
        "typeset",
        "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]",
        "Set variables and their attributes.",
    ),
    entry("ulimit", "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]", "Show or set resource limits."),
    entry("umask", "umask [-p] [-S] [mode]", "Show or set the file mode mask."),
    entry("unalias", "unalias [-a] name [name ...]", "Remove aliases."),
    entry("unset", "unset [-f] [-v] [-n] [name ...]", "Remove variables and functions."),
    entry("until", "until COMMANDS; do COMMANDS-2; done", "Run commands until others succeed."),
    entry(
        "variables",
        "variables - Names and meanings of some shell variables",
        "Variables that mean something to the shell.",
    ),
    entry("wait", "wait [-fn] [-p var] [id ...]", "Wait for jobs and give their status."),
    entry("while", "while COMMANDS; do COMMANDS-2; done", "Run commands while others succeed."),
    entry("{ ... }", "{ COMMANDS ; }", "Run commands as one."),
];

/// How a builtin is called.
pub(crate) fn of(name: &str) -> &'static str {
    ENTRIES.iter().find(|entry| entry.name == name).map_or("", |entry| entry.usage)
}

/// What a builtin is for.
pub(crate) fn purpose(name: &str) -> &'static str {
    ENTRIES.iter().find(|entry| entry.name == name).map_or("", |entry| entry.purpose)
}

/// All that is said of a builtin.
pub(crate) fn help(name: &str) -> String {
    format!("{name}: {}\n    {}\n", of(name), purpose(name))
}
