# Work with git: a hook in sh, branches, a conflict and its end, a push and a fetch between two places.
git init -q --bare origin.git
git clone -q origin.git repo 2>/dev/null
git config --global user.name dev && git config --global user.email dev@example.org
cd repo
printf '%s\n' '#!/bin/sh' 'git diff --cached --check && echo checked >>../hook.log' >.git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
echo a >f && git add f && git commit -qm one
git switch -qc topic && echo b >f && git commit -qam two
git switch -q - && echo c >f && git commit -qam three
git merge topic >/dev/null || { echo d >f; git commit -qam merged; }
git push -q origin HEAD
git log --oneline | wc -l
git -C .. clone -q origin.git again && git -C ../again log -1 --format=%s
