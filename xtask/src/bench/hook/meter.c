/* Runs a program and prints what it took: `meter rss PROGRAM ...` its largest resident memory in
 * kilobytes, `meter steps PROGRAM ...` its instructions outside of the kernel, one by one. The
 * program's standard input is ours, its output goes nowhere. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count < 3) return 1;
    int steps = strcmp(words[1], "steps") == 0;
    if (steps) {
        /* Both take turns at every step: on one processor nobody has to be woken on another. */
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        if (steps) ptrace(PTRACE_TRACEME, 0, 0, 0);
        execvp(words[2], words + 2);
        _exit(127);
    }
    int status = 0;
    struct rusage used;
    long long counted = 0;
    if (wait4(child, &status, 0, &used) < 0) return 1;
    while (steps && WIFSTOPPED(status)) {
        /* Steps are no news to it, and its watch would run out a thousand times too early. */
        int told = WSTOPSIG(status);
        int signal = told == SIGTRAP || told == SIGALRM ? 0 : told;
        if (ptrace(PTRACE_SINGLESTEP, child, 0, signal) < 0) return 1;
        if (wait4(child, &status, 0, &used) < 0) return 1;
        counted++;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 2;
    printf("%lld\n", steps ? counted : (long long)used.ru_maxrss);
    return 0;
}
