# A package is made, installed below a root of its own, and removed; its scripts run in sh.
mkdir -p hello/DEBIAN hello/usr/share/hello root
echo 'hello, world' >hello/usr/share/hello/greeting
printf '%s\n' 'Package: hello' 'Version: 1.0' 'Architecture: all' 'Maintainer: Nobody <nobody@example.org>' \
  'Description: says hello' >hello/DEBIAN/control
printf '%s\n' '#!/bin/sh' 'set -e' 'if [ "$1" = configure ]; then' '  date -u +%s >"$DPKG_ROOT/installed-at"' 'fi' >hello/DEBIAN/postinst
printf '%s\n' '#!/bin/sh' 'rm -f "$DPKG_ROOT/installed-at"' >hello/DEBIAN/prerm
chmod 755 hello/DEBIAN/p*
dpkg-deb --build --root-owner-group hello
mkdir -p root/var/lib/dpkg/{info,updates,triggers} && touch root/var/lib/dpkg/{status,available}
dpkg --root="$PWD/root" --force-script-chrootless -i hello.deb
cat root/usr/share/hello/greeting root/installed-at
dpkg --root="$PWD/root" --force-script-chrootless -r hello
ls root/installed-at
