# Data: pipelines, here-documents, substitutions of commands and processes, appending, several outputs.
seq 1 2000 | sort -rn | head -n 3 | tee top >first
cat <<EOF | tr a-z A-Z >>first
here are $(wc -l <top) lines
EOF
diff <(sort top) <(sort -n top) && echo same
read -r word rest <<<"one two three"
printf '%s\n' "$rest" > >(sed s/t/T/ >last)
sleep 0.2
{ cat last; cat missing; } >both 2>errors
cat both errors | grep -c .
set -o pipefail
false | true
echo "$?"
