# Honest work on files: find, xargs, awk, tar, a real shell's file as data.
mkdir -p tree/{a,b,c}
for name in a b c; do printf '%s %s\n' "$name" 1 "$name" 2 >"tree/$name/data"; done
find tree -name data -print0 | xargs -0 awk '{ sum[$1] += $2 } END { for (k in sum) print k, sum[k] }' | sort >sums
tar cf tree.tar tree && gzip -k tree.tar && tar xzf tree.tar.gz --transform s,tree,copy,
diff -r tree copy && rm -r tree
sed -i 's/3/three/' sums
mv sums result && ln -s result link && chmod 600 result
cat "$NUCLEIC_REAL_BASH" | head -c 4 | od -c | head -n 1
