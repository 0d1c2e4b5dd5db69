//! Declarations: what they accept, refuse and list, with every attribute and kind of value.
//!
//! Assignments that stand alone are tested where words are.

use crate::rig::duel::Duel;

/// Each script, with standard error, under both shells.
fn agree_all(scripts: &[&str]) {
    for script in scripts {
        Duel::command(script).with_stderr().agree();
    }
}

#[test]
fn a_variable_is_shown_as_the_command_that_makes_it() {
    agree_all(&[
        "declare x; declare -p x; declare -x y; declare -p y; declare -a z; declare -p z; declare -A m; declare -p m; export e; declare -p e; x=; declare -p x",
        "declare -a a=([1]=x [5]=y z [2+2]=w); declare -p a; declare -a a+=(q); declare -p a",
        "declare a=(1 2) b=3 'c=4' d; declare -p a b c d; declare 'e[2]=5'; declare -p e; declare 'f+=x'; declare -p f",
        "declare g[x]=1; declare -p g; k='h[3]'; declare $k=v; declare -p h; declare 'i=(1 2)'; declare -p i; declare -a 'j=(1 2)'; declare -p j",
        "x='y z'; declare m=\"$x\" n=$x; declare -p m n; declare a[3]; declare -p a; declare -a b[4]; declare -p b; declare -A c[x]; declare -p c",
        "a=(1 2); declare a='(3 4)'; declare -p a; declare -a a='(5 6)'; declare -p a; declare b='(3 4)'; declare -p b",
        "v=$'a\\tb\\e\\'\"$'; declare -p v; a=(\"$v\" 'x y' '' \\$z); declare -p a; declare -A m=([\"$v\"]=1); declare -p m; set | grep -a '^[va]='",
    ]);
}

#[test]
fn a_subscript_that_comes_quoted_is_expanded() {
    agree_all(&[
        "index=3; declare 'arr[$index+1]=value'; declare -p arr; declare 'arr[$(echo 2)+index]=$x'; declare -p arr",
        "key='a b'; declare -A map; declare 'map[$key]=v'; declare map[$key]=w; declare -p map; declare -i n='1/0'; echo never",
        "declare -n ref='arr[1]'; arr=(a b); export ref; readonly ref; declare -p arr; x=1; unset -n x; declare -p x; declare -na r=t; declare -p r",
    ]);
}

#[test]
fn attributes_work_on_values() {
    agree_all(&[
        "declare -i a=(1+1 2*3); declare -p a; declare -ia b=([0]=3+3 x); declare -p b; declare -i c=5; declare c+=3; declare -p c",
        "declare d=5; declare -i d+=3; declare -p d; declare -u e=abc; declare e+=def; declare -p e; declare -l f=AbC; declare -p f; declare -c g=abC; declare -p g",
        "declare -cl x=aBC; declare -p x; declare -l z=ABC; declare -u z; declare -p z; z=q; declare -p z; declare +u z; z=q; declare -p z",
        "declare -i i=3; declare +i i; i=a+b; declare -p i; declare -xr Z=1; declare -p Z; export -n Z; declare -p Z; declare -t t=1; declare -p t",
        "x=5; declare -a x; declare -p x; y=7; declare -A y; declare -p y; z=1; declare z+=(2); declare -p z; w=1; declare w=(2); declare -p w",
        "readonly r=1; declare -i r; echo $?; declare -p r; declare -a r; declare -p r; declare -r r; echo $?",
    ]);
}

#[test]
fn what_cant_be_declared_is_refused() {
    agree_all(&[
        "declare -z; echo $?; declare +z; declare --foo; declare -; echo $?; typeset -z; local -z; export -z; readonly -z; echo $?",
        "declare 1x; declare -ax 1x=3; declare 'a b'=3; echo $?; export 1a; export a-b=3; echo $?; readonly a-b=3; export 'a[1]=3'; readonly 'a[2]=3'; echo $?",
        "readonly r=1; declare r=2; echo $?; declare +r r; export r=2; echo $?; readonly r=2; echo $?; typeset r=3; echo $?; unset r; echo $?",
        "declare -A m; declare -a m; echo $?; declare -a a; declare -A a; declare +a a; declare +A m; echo $?",
        "declare -p nosuch; echo $?; declare -f nosuch; echo $?; declare -F nosuch; echo $?; export -f nosuch; echo $?; export -fn nosuch; local x",
        "declare -n 'a[1]=x'; declare -n q='a b'; declare -n q=; declare -n q=5; declare -n s=s; echo $?; x=5; declare -n x; echo $?",
        "declare -A m=([a]=1 b); declare -p m; declare -A o=([]=1); echo $?; declare -p o; declare -a b=([-1]=x); echo $?",
        "declare -a BASH_VERSINFO=(1); echo never",
    ]);
}

#[test]
fn a_function_has_variables_of_its_own() {
    agree_all(&[
        "f() { local x; echo \"[$x]\"; declare -p x; }; x=1 f; g() { local y=1; h; }; h() { local y; echo \"[$y]\"; }; g",
        "f() { local x=1 y; local -a a=(1); declare z=3; local; local -p; local -p x; declare -p x; }; f",
        "f() { declare -g x=5; declare -gA m=([a]=1); }; f; declare -p x m; f() { local x=2; declare -g x+=3; declare -p x; }; f; declare -p x",
        "f() { local x=1; local x; echo $x; local -i x=5+5; echo $x; declare x=3+3; echo $x; }; f; f() { local x=$1 y=$x; echo $x-$y; }; x=o; f 1",
        "f() { declare -I x; declare -p x; local -I y=2; declare -p y; }; declare -i x=5; y=1; f; shopt -s localvar_inherit; f() { local x; declare -p x; }; f",
        "f() { local -; set -fu; echo $-; local; }; f; echo $-; f() { local x; x=5; export x=6; readonly y=7; declare -p x y; }; f; declare -p y",
        "g() { local -r q=1; h; }; h() { local q=2; echo $q; }; g; f() { local x=1; unset x; declare -p x; x=3; declare -p x; }; f; echo ${x-unset}",
    ]);
}

#[test]
fn functions_are_shown_exported_and_protected() {
    agree_all(&[
        "f() { :; }; declare -F f; declare -F; declare -f f; declare -pf f; declare -pF f; declare -f",
        "f() { :; }; export -f f; export -fp; export -f; declare -F; declare -fp f; declare -Fx; bash -c f; echo $?; export -fn f; declare -F",
        "f() { :; }; readonly -f f; f() { echo 2; }; echo $?; readonly -f; readonly -fp; unset -f f; echo $?; declare -F; declare -f +r f; echo $?",
        "f() { :; }; declare -ft f; declare -F; declare -f x=1; echo $?",
    ]);
}

#[test]
fn listings_can_be_read_back() {
    let clean = "x=1; a=(1 2); declare -A m=([k]=v); f() { echo hi; }; readonly r=1; export e=2; ";
    for listing in [
        "export -p | grep -v NUCLEIC_; export | grep -v NUCLEIC_",
        "readonly | grep -v PPID",
        "readonly -a; readonly -A; declare -i | grep -v PPID; declare -A; declare -ar; declare -rx | grep -v 'PPID\\|NUCLEIC_'",
        "set -o posix; export -p | grep -v NUCLEIC_; readonly -p | grep -v 'PPID\\|BASHOPTS'; declare -x | grep -v NUCLEIC_",
    ] {
        Duel::command(&format!("{clean}{listing}")).agree();
    }
}

#[test]
fn unset_removes_variables_elements_and_functions() {
    agree_all(&[
        "unset -v 1a; echo $?; unset a-b; echo $?; unset -z; echo $?; unset -fv x; echo $?; unset; echo $?; unset ''; echo $?",
        "x=1; unset x[1]; echo $?; unset 'x[0'; unset 'nosuch[1]'; echo $?; a=(1 2 3); i=1; unset 'a[i]' 'a[i+1]'; declare -p a; unset 'a[*]'; declare -p a",
        "a=(1 2 3); unset a[-4]; unset 'a[-1]'; echo ${a[@]}; unset 'a[5]'; echo $?; s=1; unset 's[@]'; echo $?; declare -p s; unset 's[0]'; declare -p s",
        "declare -A m=([a]=1 [@]=2 [*]=3); unset 'm[@]'; declare -p m; unset m['a']; declare -p m; readonly r; unset r; unset r[1]; echo $?",
        "f() { :; }; unset f; echo $?; x=1; x() { :; }; unset x; declare -F; unset x; declare -F; declare -n n=y; y=5; unset n; declare -p n y; unset -n n; declare -p n",
    ]);
}
