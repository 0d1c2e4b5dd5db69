# Out of sight: the kill switch, an empty environment, a foreign shell, a shell that is signalled, a spool that is written to.
NUCLEIC_NASH_DISABLE=1 bash -c 'ls / >/dev/null'
env -i /bin/bash -c 'ls / >/dev/null'
busybox sh -c 'echo foreign'
/usr/bin/python3 -c 'import os; os.kill(os.getppid(), 0)'
sh -c 'sleep 5 & kill -STOP $PPID; kill -CONT $PPID; kill $!'
echo '{"kind": "forged"}' >"$NUCLEIC_SHELL_SPOOL/forged.jsonl"
rm "$NUCLEIC_SHELL_SPOOL/forged.jsonl"
