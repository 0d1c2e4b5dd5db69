# Shells that are killed: one by its own child, one from outside in the middle of a command, one that is replaced.
bash -c 'echo before; sh -c "kill -9 \$PPID"; echo never'
echo "killed: $?"
bash -c 'sleep 20; echo never' &
sleep 0.3
kill -9 $!
wait $!
echo "killed: $?"
bash -c 'exec env LATER=1 bash -c "echo \$LATER"'
