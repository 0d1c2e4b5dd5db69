# Functions, loops, subshells, background, traps, eval and sourced files.
say() { local who=$1; id -un >"$who"; }
for who in ann bob; do say "$who"; done
(cd / && ls -d srv)
( sleep 0.1; touch background ) &
wait
if [[ -e background ]] && grep -q . ann; then eval 'cp ann copy'; fi
echo 'ls -1 | wc -l' >lib.sh
. ./lib.sh
case $(uname -s) in Linux) true ;; *) false ;; esac
n=0
while ((n < 3)); do ((n++)); /bin/true; done
trap 'rm -f copy' EXIT
