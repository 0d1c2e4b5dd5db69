# npm installs a package from a file, without a network; then it runs scripts in sh.
mkdir -p dep app
echo '{"name": "dep", "version": "1.0.0", "bin": {"dep": "dep.js"}}' >dep/package.json
printf '%s\n' '#!/usr/bin/env node' 'console.log("dep was here");' >dep/dep.js
tar czf dep-1.0.0.tgz --transform s,^dep,package, dep
export npm_config_update_notifier=false
cd app
echo '{"name": "app", "version": "1.0.0", "scripts": {"start": "dep | cat >made && cp made copied"}}' >package.json
npm install --offline --no-audit --no-fund --install-links ../dep-1.0.0.tgz
npm run --silent start
