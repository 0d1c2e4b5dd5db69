#!/bin/bash
# Records the golden stories' pairs of streams anew: runs each script under nash with nash-ebpf watching, as root.
#
# It tells no story and judges none: tests/it/golden.rs does, and NASH_BLESS=1 writes story.txt anew, to be read by a person.
# Usage: golden-record.sh BIN [NAME...], BIN being a folder with nash, nash-ebpf and nash-correlate.
# Needs cc, make, git, node, npm, python3 with pip, dpkg, busybox and zstd.
#
# Each run has namespaces of its own: there is no network, nash stands in for bash and sh, /srv is empty, and the names of
# the machine say nothing, so that a recording holds no trace of where it was made.
set -eu

inside() {
    hostname golden
    mount -t tmpfs none /srv
    mkdir -m 755 /srv/nash /srv/project
    cp "$bin/nash" "$bin/nash-ebpf" /srv/nash/
    cp /usr/bin/bash /srv/nash/bash.real
    cp /usr/bin/dash /srv/nash/sh.real
    echo 0123456789abcdef0123456789abcdef >/srv/nash/machine-id
    [ ! -e /etc/machine-id ] || mount --bind /srv/nash/machine-id /etc/machine-id
    mount --bind /srv/nash/nash /usr/bin/bash
    mount --bind /srv/nash/nash /usr/bin/dash
    cd /srv/project
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv/project LANG=C.UTF-8 TZ=UTC NUCLEIC_SHELL_SPOOL=/srv/nash/spool \
        NUCLEIC_SHELL_SOCKET= NUCLEIC_SESSION_ID="golden-$1" NUCLEIC_SHELL_KERNEL=ebpf \
        NUCLEIC_REAL_BASH=/srv/nash/bash.real NUCLEIC_REAL_SH=/srv/nash/sh.real \
        /srv/nash/nash-ebpf record -o /srv/nash/kernel.ndjson --preserved /srv/nash/bash.real --preserved /srv/nash/sh.real -- \
        /usr/bin/bash -c "$(cat "$golden/$1/script.sh")" >/srv/nash/output 2>&1 </dev/null || echo "status $?" >>/srv/nash/output
    # What a spool holds of shells that are over, as batches; daemons end first.
    sleep 2
    "$bin/nash-correlate" drain --spool /srv/nash/spool </dev/null |
        sed 's/.*"dataB64":"//; s/".*//' | base64 -d >/srv/nash/shells.ndjson
    for stream in shells kernel; do
        zstd -q -19 -f -o "$golden/$1/$stream.ndjson.zst" "/srv/nash/$stream.ndjson"
    done
    cat /srv/nash/output
}

bin=$(realpath "$1"); shift
golden=$(realpath "$(dirname "$0")/it/golden")
[ "$#" -gt 0 ] || set -- $(ls "$golden")
for name; do
    export bin golden
    echo "== $name"
    unshare --mount --uts --net --fork -- /bin/bash -euc "$(declare -f inside); inside $name"
done
