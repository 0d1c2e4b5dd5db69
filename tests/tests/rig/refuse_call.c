/* Runs a command in which one call is not permitted, as a sandbox may have it: refuse_call CALL PROGRAM [ARGUMENT]... */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"ppoll", __NR_ppoll}, {"recvmsg", __NR_recvmsg}, {"sendmsg", __NR_sendmsg}, {"splice", __NR_splice}, {"tee", __NR_tee},
};

int main(int argc, char **argv)
{
    size_t call = 0;
    while (argc > 2 && call < sizeof calls / sizeof *calls && strcmp(argv[1], calls[call].name) != 0) {
        call++;
    }
    if (argc < 3 || call == sizeof calls / sizeof *calls) {
        fprintf(stderr, "refuse_call: no such call, or no program\n");
        return 2;
    }
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[call].number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("refuse_call");
        return 2;
    }
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 2;
}
