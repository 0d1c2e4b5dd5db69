#!/bin/sh
# Fuzzes every input format: run.sh NASH SECONDS DIR [TARGET...]. The corpus in DIR is seeded from what NASH writes when it runs
# the scripts below, and grows from run to run. Needs cargo-fuzz and clang; the compiler's unstable options are switched on here.
set -eu

nash=$1 seconds=$2 dir=$3
shift 3
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
export RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$dir/target"
# What was freed is kept aside for a while, to find who uses it: little of it, or the bound on memory is one on that.
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=32}

# A few events of every kind that a shell writes, without anything of this machine in them but its own paths.
seed() {
    spool=$dir/spool.$$ work=$dir/work.$$
    mkdir -m 700 "$spool" "$work"
    for script in \
        'echo one two | tr a-z A-Z > out; cat < out' \
        'f() { cat <<< "$1"; }; f x; x=$(date); export x; cd /; false' \
        'for i in 1 2; do echo $i; done | while read -r l; do echo "$l"; done > o; cat <(echo a) > /dev/null' \
        '(sleep 0 & wait); trap "echo bye" EXIT; nosuchcommand; TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345 env > e' \
        'cat <<EOF >> log
text
EOF
source /dev/null; kill -9 $$'; do
        (cd "$work" && NUCLEIC_SHELL_SPOOL=$spool "$nash" -c "$script" >/dev/null 2>&1) || true
    done
    correlate=$(dirname "$nash")/nash-correlate
    for journal in "$spool"/*.journal; do
        name=$(basename "$journal" .journal)
        cp "$journal" "$dir/corpus/content/$name"
        { printf '@'; cat "$journal"; } > "$dir/corpus/journal/$name"
    done
    "$correlate" drain --spool "$spool" --ack none </dev/null 2>/dev/null |
        sed 's/.*"dataB64":"\([^"]*\)".*/\1/' | base64 -d > "$dir/all"
    number=0
    while read -r line; do
        number=$((number + 1))
        printf '%s\n' "$line" | tee "$dir/corpus/story/$number" "$dir/corpus/batch/$number" > "$dir/corpus/content/b$number"
        printf '@%s\n' "$line" > "$dir/corpus/spool/$number"
    done < "$dir/all"
    cp "$dir/all" "$dir/corpus/story/all"
    printf '@%s' 'curl -u user:hunter2 https://a:b@c/?token=ghp_0123456789abcdefghijABCDEFGHIJ012345' > "$dir/corpus/redact/curl"
    printf "[[rules]]\nid = 'a'\nregex = '''(k[a-z]+)=(\\\\S{4,})'''\nkeywords = ['k']\nentropy = 1.5\n\0key=abcd1234" \
        > "$dir/corpus/rules/one"
    zstd=$(command -v zstd || true)
    [ -z "$zstd" ] || "$zstd" -qf "$dir/all" -o "$dir/corpus/content/packed"
    # Recordings of both witnesses, as much as an input may be long.
    for packed in "$root"/correlator/tests/it/golden/*/*.zst; do
        [ -n "$zstd" ] || break
        name=$(basename "$(dirname "$packed")")-$(basename "$packed" .ndjson.zst)
        cp "$packed" "$dir/corpus/content/$name"
        "$zstd" -dcq "$packed" | awk '{ bytes += length($0) + 1 } bytes < 60000' > "$dir/corpus/story/$name"
        head -n 1 "$dir/corpus/story/$name" > "$dir/corpus/batch/$name"
        { printf '@'; cat "$dir/corpus/story/$name"; } > "$dir/corpus/spool/$name"
    done
    rm -rf "$spool" "$work" "$dir/all"
}

for target in batch journal redact spool content rules story record; do mkdir -p "$dir/corpus/$target"; done
seed
[ $# -gt 0 ] || set -- batch journal redact spool content rules story record
for target; do
    case $target in
    batch | journal | redact | spool) crate=events ;;
    record) crate=nash-ebpf ;;
    *) crate=correlator ;;
    esac
    echo "== $target, $seconds s"
    (cd "$root/$crate" && cargo fuzz run --fuzz-dir fuzz "$target" "$dir/corpus/$target" -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=512 -max_len=65536 -print_final_stats=1 \
        -artifact_prefix="$dir/$target-")
done
