//! The scripts that are measured: each does one kind of work often enough to be timed.
//!
//! Text only. How often a script runs and what it is held to stands in `figures`.

use std::fmt::Write;

/// Bytes of the wrapper: 38 KB, what one of the agents puts around every command.
const WRAPPER_BYTES: usize = 38_000;

/// Lines of the file that is read line by line.
const LINES: usize = 5_000;

/// Does nothing: what is measured is the shell's start and end.
pub(crate) const NOTHING: &str = ":";

/// Arithmetic in a loop.
pub(crate) const ARITHMETIC: &str = "\
i=0 sum=0
while (( i < 20000 )); do (( sum += i * 3 % 7, i++ )); done
echo $sum";

/// Assignments, expansions and matches of short strings in a loop.
pub(crate) const STRINGS: &str = r#"
length=0
for (( i = 0; i < 5000; i++ )); do
    name="item-$i.txt"
    base=${name#item-}; base=${base%.txt}
    other=${name/item/thing}
    if [[ $other == thing-* && $base != x ]]; then length=$(( length + ${#other} )); fi
done
echo $length"#;

/// Calls of a function with a local variable.
pub(crate) const FUNCTIONS: &str = "\
add() { local before=$1; total=$(( before + 1 )); }
total=0
for (( i = 0; i < 5000; i++ )); do add $total; done
echo $total";

/// Command substitutions of a builtin.
pub(crate) const SUBSTITUTIONS: &str = "for (( i = 0; i < 300; i++ )); do text=$(echo $i); done; echo $text";

/// Pipelines in which every element is a builtin or a compound command.
pub(crate) const PIPELINES: &str =
    r#"for (( i = 0; i < 100; i++ )); do echo $i | while read -r n; do echo "<$n>"; done; done"#;

/// Programs, one after the other.
pub(crate) const PROGRAMS: &str = "for (( i = 0; i < 150; i++ )); do /bin/true; done";

/// A file read line by line.
pub(crate) const READ_LINES: &str = "\
count=0
while IFS= read -r line; do count=$(( count + ${#line} )); done < lines
echo $count";

/// Data through a pipeline of programs: 1 GiB.
pub(crate) const THROUGHPUT: &str = "head -c 1073741824 /dev/zero | cat > /dev/null";

/// Questions and answers over two pipes, one of which is a pipeline's. The programs are another shell's.
pub(crate) const PING_PONG: &str = r"
mkfifo back
sh -c 'i=0; while [ $i -lt 3000 ]; do echo x; read y <&3; i=$((i + 1)); done' 3< back |
    sh -c 'while read x; do echo $x; done' > back
rm back";

/// As many pipelines, redirections and long lists of words as fit into so short a time: what taps cost at worst.
pub(crate) const DENSE_PIPELINES: &str = r"
mkdir work && cd work
for i in 1 2 3 4 5; do printf 'line %s\n' {1..2000} > file$i.txt; done
find . -name '*.txt' | sort | head -20
grep -rn 'line 1' . | sort | head -5
wc -l *.txt | tail -1
sed -n '1,20p' file1.txt
cat file1.txt | tr a-z A-Z | sort -u | tail -3
awk '{ n += $2 } END { print n }' file2.txt
ls -a > listing.txt 2>&1; tail -2 listing.txt | wc -c
tar cf - . | gzip -c > ../work.tgz; gzip -t ../work.tgz && echo packed
diff <(sort file1.txt) <(sort file2.txt) && echo same
cd .. && rm -r work work.tgz";

/// What an agent puts around a command: a long list of variables that are unset where they are set, and the command in a shell
/// that takes this one's place. `$0` is that shell.
pub(crate) fn wrapper() -> String {
    let mut script = String::with_capacity(WRAPPER_BYTES);
    let mut number = 0;
    while script.len() < WRAPPER_BYTES {
        number += 1;
        // Writing to a string can't fail.
        let _ = writeln!(
            script,
            "if [ -n \"${{AGENT_SETTING_{number:04}+x}}\" ]; then builtin unset AGENT_SETTING_{number:04}; fi"
        );
    }
    script + "exec \"$0\" -c :"
}

/// The content of the file `lines`.
pub(crate) fn lines() -> String {
    "a line of a file that is neither long nor short\n".repeat(LINES)
}
