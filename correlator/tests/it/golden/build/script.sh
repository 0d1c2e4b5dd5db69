# A build with make: objects side by side, an archive, a program, its test; then a rebuild with nothing to do, and an error.
mkdir lib && cd lib
echo 'int one(void) { return 1; }' >one.c
echo 'int two(void) { return 2; }' >two.c
echo 'int one(void); int two(void); int main(void) { return one() + two() - 3; }' >test.c
printf '%s\n' 'check: test' '	./test && echo passed | tee result' 'test: test.o libnum.a' '	cc -o $@ $^' \
  'libnum.a: one.o two.o' '	ar rc $@ $^' >Makefile
make -j2 check
make -q test
echo 'int two(void) { return }' >two.c
make check || echo "broken: $?"
