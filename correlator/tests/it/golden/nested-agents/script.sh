# An agent below an agent below an agent: each has a shell, and says who it is.
cat >agent.py <<'PY'
import os, subprocess, sys
os.environ["CODEX_SESSION_ID"] = "codex-7"
sys.exit(subprocess.call(["bash", "-lc", "ls -1 | head -n 1; bash -c 'mkdir inner && echo deep >inner/file; exit 5'"]))
PY
export CLAUDE_CODE_SESSION_ID=claude-1
echo outer >file
/usr/bin/python3 agent.py
echo "agent: $?"
GEMINI_CLI=1 sh -c 'cat inner/file'
