# A tool in node: it runs a shell, a program, and a pipeline, and writes files.
cat >tool.js <<'JS'
const { execSync, spawn, spawnSync } = require("child_process");
const fs = require("fs");
fs.mkdirSync("out/deep", { recursive: true });
fs.writeFileSync("out/deep/list", execSync("ls -1 | sort -r"));
const failed = spawnSync("false");
const child = spawn("sh", ["-c", "cat >out/copy; exit 3"], { stdio: ["pipe", "inherit", "inherit"] });
child.on("exit", (code) => { fs.renameSync("out/copy", "out/moved"); process.exit(failed.status + code); });
child.stdin.end("through a pipe\n");
JS
node tool.js
echo "node said $?"
cat out/moved
