//! What an agent runs while it mends a small program: one shell a command, as agents call them.
//!
//! Text only. The commands run in their order in one directory, where the first begins anew. Where Python or make isn't
//! installed their commands do nothing.

/// The whole session: looks and edits, and what they are made for, builds, tests and a server that is waited for.
pub(crate) fn session() -> Vec<String> {
    SHORT.iter().chain(&LONGER).map(|command| (*command).to_owned()).collect()
}

/// The short commands of the session alone: what a shell costs shows in them the most.
pub(crate) fn short() -> Vec<String> {
    SHORT.map(str::to_owned).to_vec()
}

const SHORT: [&str; 28] = [
    "rm -rf project && mkdir -p project/src project/tests && cd project && git init -q . && git config user.email a@b && git config user.name a",
    r#"cd project && cat > src/words.c <<'EOF'
#include <ctype.h>
#include <stdio.h>
int main(void) {
    int c, in_word = 0;
    long lines = 0, words = 0, bytes = 0;
    while ((c = getchar()) != EOF) {
        bytes++;
        if (c == '\n') lines++;
        if (isspace(c)) in_word = 0;
        else if (!in_word) { in_word = 1; words++; }
    }
    printf("%ld %ld %ld\n", lines, words, bytes);
    return 0;
}
EOF
cat > Makefile <<'EOF'
words: src/words.c
	cc -O1 -o $@ $<
EOF"#,
    "cd project && for i in 1 2 3 4 5 6; do seq -f 'line %g of a test' $((i * 200)) > tests/$i.txt; done && ls tests | wc -l",
    "cd project && git add -A && git commit -qm 'first' && git log --oneline | wc -l",
    "ls -AF project",
    "cd project && find . -name '*.c' -not -path './.git/*' | head -20",
    "cd project && cat src/words.c",
    "cd project && grep -rn 'isspace' src | head",
    "cd project && sed -n '1,10p' src/words.c",
    "cd project && cc -O1 -Wall -o words src/words.c 2>&1 | tail -20; echo \"status ${PIPESTATUS[0]}\"",
    "cd project && ./words < tests/3.txt",
    "cd project && for f in tests/*.txt; do printf '%s ' \"$f\"; ./words < \"$f\"; done",
    "cd project && diff <(./words < tests/6.txt) <(wc < tests/6.txt | awk '{ print $1, $2, $3 }') && echo same",
    "cd project && sed -i 's/long lines/unsigned long lines/; s/%ld/%lu/g' src/words.c && git diff --stat",
    "cd project && git status --short | head -5",
    "cd project && git diff | head -40",
    "cd project && command -v python3 > /dev/null && python3 -c 'import json; print(json.dumps({\"a\": [1, 2]}))' || true",
    r#"cd project && cat > tests/check.py <<'EOF'
import subprocess, sys
for n in range(1, 4):
    path = f"tests/{n}.txt"
    with open(path) as file:
        got = subprocess.run(["./words"], stdin=file, capture_output=True, text=True).stdout.split()
    print(path, got)
sys.exit(0)
EOF"#,
    "cd project && if command -v python3 > /dev/null; then python3 tests/check.py 2>&1 | tail -5; fi",
    "cd project && rm -f words && cc -O2 -Wall -Wextra -o words src/words.c && ./words < Makefile",
    "cd project && wc -l src/*.c tests/*.txt | tail -1",
    "cd project && awk '{ n += $2 } END { print n }' tests/1.txt; sort -k2 -n tests/2.txt | tail -2",
    "cd project && cat tests/6.txt | tr a-z A-Z | sort -u | head -3",
    "cd project && tar czf ../project.tgz src tests && tar tzf ../project.tgz | sort | head -4; rm ../project.tgz",
    "cd project && export LIMIT=3 && n=0; while [ $n -lt $LIMIT ]; do n=$((n + 1)); [ -s tests/$n.txt ] || echo empty; done; echo $n",
    "cd project && git add -A && git commit -qm 'counts have no sign' && git show --stat HEAD | tail -2",
    "cd project && ls *.md 2> /dev/null || echo 'no notes'; command -v words || true",
    "cd project && du -a src | sort -n | tail -1 | cut -f2; pwd | wc -l",
];

const LONGER: [&str; 6] = [
    "cd project && if command -v make > /dev/null; then make -B 2>&1 | tail -3; fi; ./words < Makefile",
    "cd project && for level in 0 1 2 3; do cc -O$level -Wall -o words src/words.c && ./words < tests/6.txt; done",
    "cd project && sleep 30 > server.log 2>&1 & server=$!; sleep 0.3; kill -0 $server && echo up; kill $server; wait $server; echo \"stopped $?\"",
    "cd project && timeout 0.3 tail -f tests/1.txt | tail -1; echo \"status ${PIPESTATUS[0]}\"",
    r#"cd project && cat > tests/test_words.py <<'EOF'
import subprocess, unittest
class Words(unittest.TestCase):
    def count(self, text):
        return subprocess.run(["./words"], input=text, capture_output=True, text=True).stdout.split()
    def test_nothing(self):
        self.assertEqual(self.count(""), ["0", "0", "0"])
    def test_one_line(self):
        self.assertEqual(self.count("two words\n"), ["1", "2", "10"])
EOF
if command -v python3 > /dev/null; then python3 -m unittest discover -s tests 2>&1 | grep -c OK; fi"#,
    "cd project && git clone -q . ../copy && (cd ../copy && cc -O1 -o words src/words.c && ./words < Makefile); rm -rf ../copy",
];
