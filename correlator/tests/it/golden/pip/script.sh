# pip installs a wheel from a file, without a network, and the program that came with it is run.
/usr/bin/python3 - <<'PY'
import zipfile
with zipfile.ZipFile("demo-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("demo.py", "def main():\n    print('demo')\n")
    info = "demo-1.0.dist-info/"
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(info + "entry_points.txt", "[console_scripts]\ndemo = demo:main\n")
    wheel.writestr(info + "RECORD", "demo.py,,\n")
PY
pip3 install --no-index --disable-pip-version-check --target site ./demo-1.0-py3-none-any.whl
PYTHONPATH=site site/bin/demo >out
cat out
