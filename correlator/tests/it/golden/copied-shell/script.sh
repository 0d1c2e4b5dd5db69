# Out of sight: a copy of the real shell under another name, and a link to it.
cp "$NUCLEIC_REAL_BASH" ./worker
./worker -c 'echo copied; /bin/ls / >listing'
ln -s "$NUCLEIC_REAL_BASH" tool
./tool -c 'touch by-link'
echo done
