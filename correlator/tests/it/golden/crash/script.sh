# Programs that crash, alone, in a pipeline, below make, and one that can't be executed.
echo 'int main(int n, char **v) { if (n > 1) __builtin_trap(); *(volatile int *)0 = 1; }' >crash.c
cc -w -o crash crash.c
./crash
echo "first: $?"
./crash trap | cat
echo "second: ${PIPESTATUS[0]}"
printf 'all:\n\t./crash\n' >Makefile
make
sh -c 'kill -ABRT $$'
echo "third: $?"
echo not a program >text
./text; ./nothing
exit 4
