# A tool in python: a pool of processes, a shell, a terminal of its own, a temporary folder.
cat >tool.py <<'PY'
import multiprocessing, os, pty, subprocess, tempfile
def work(n):
    with open(f"part{n}", "w") as out:
        out.write(str(n * n))
    return n * n
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(work, range(4), chunksize=1)))
    print(subprocess.run("cat part* | wc -c; exit 7", shell=True).returncode)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        subprocess.check_call(["cp", "part3", folder + "/copy"])
    pty.spawn(["tty"])
    os.execvp("env", ["env", "-u", "PWD", "true"])
PY
/usr/bin/python3 tool.py
rm part?
