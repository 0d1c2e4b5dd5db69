# Daemons: one that forks twice and goes on when the shell is over, one by setsid, one by nohup that is ended.
cat >serve.py <<'PY'
import os, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
open("pid", "w").write(str(os.getpid()))
time.sleep(1.5)
open("late", "w").write("still here")
PY
/usr/bin/python3 serve.py
until [[ -s pid ]]; do sleep 0.05; done
setsid sh -c 'sleep 0.2; echo by setsid >session' &
nohup sleep 30 >/dev/null 2>&1 &
sleep 0.2
kill $!
wait
echo bye
