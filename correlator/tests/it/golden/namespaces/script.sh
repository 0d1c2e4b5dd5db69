# A shell in a pid namespace of its own: its pids are others there, and are joined with the machine's.
unshare --pid --fork --mount-proc bash -c 'echo "pid $$"; ls -d /proc/1; sleep 0.1 & wait'
unshare --user --map-root-user sh -c 'id -u >uid'
cat uid
