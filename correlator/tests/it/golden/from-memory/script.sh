# Out of sight: the real shell from memory, and through the dynamic loader.
/usr/bin/python3 - <<'PY'
import os
fd = os.memfd_create("x")
os.write(fd, open(os.environ["NUCLEIC_REAL_BASH"], "rb").read())
if os.fork() == 0:
    os.execve(fd, ["innocent", "-c", "echo from memory"], os.environ)
os.wait()
PY
/lib64/ld-linux-x86-64.so.2 "$NUCLEIC_REAL_BASH" -c 'echo through the loader'
