# Programs that are ended: by timeout, by a job's number, by a program, by a closed pipe.
timeout 0.2 sleep 30
echo "timeout: $?"
timeout -s KILL 0.2 sleep 30
sleep 30 &
sleep 0.2
kill %1
wait %1
echo "job: $?"
sleep 30 &
sleep 0.2
/usr/bin/python3 -c 'import os, sys; os.kill(int(sys.argv[1]), 9)' $!
wait $!
yes | head -n 1
trap 'echo got usr1' USR1
kill -USR1 $$
