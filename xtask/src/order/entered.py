"""Prints where the functions lie that a run of a program enters, in the order of their first call.

    entered.py PROGRAM [ARGUMENT...] < INPUT

Every function gets a breakpoint, which goes with the first hit. The program needs its symbols.
"""

import ctypes
import os
import signal
import subprocess
import sys

TRACE_ME, GO_ON, GET_REGISTERS, SET_REGISTERS, SET_OPTIONS = 0, 7, 12, 13, 0x4200
# Forks, threads and programs that take its place are followed, and nobody outlives the tracer.
FOLLOW = 0x2 | 0x4 | 0x8 | 0x10 | 0x100000
ANY_CHILD = 0x40000000
BREAKPOINT = 0xCC

NAMES = (
    "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss"
    " fs_base gs_base ds es fs gs"
)


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in NAMES.split()]


libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def told(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def functions(program):
    table = set()
    for line in told("nm", "--defined-only", program).splitlines():
        address, kind, _ = line.split(" ", 2)
        if kind in "tTwWi":
            table.add(int(address, 16))
    return table


def code_segment(program):
    for line in told("readelf", "-lW", program).splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in words[6:8]:
            return int(words[2], 16), int(words[5], 16)
    sys.exit(f"{program} has no code")


def loaded_at(pid, program):
    """How far from its own addresses the program lies."""
    with open(f"/proc/{pid}/maps") as maps:
        first = next(line for line in maps if line.rstrip().endswith(program))
    lowest = min(
        int(line.split()[2], 16)
        for line in told("readelf", "-lW", program).splitlines()
        if line.split()[:1] == ["LOAD"]
    )
    return int(first.split("-")[0], 16) - lowest


def start(program, arguments):
    pid = os.fork()
    if pid == 0:
        libc.ptrace(TRACE_ME, 0, None, None)
        os.execv(program, [program, *arguments])
    os.waitpid(pid, 0)
    libc.ptrace(SET_OPTIONS, pid, None, FOLLOW)
    return pid


class Run:
    def __init__(self, program, arguments):
        self.table = functions(program)
        self.first, length = code_segment(program)
        self.pid = start(program, arguments)
        self.away = loaded_at(self.pid, os.path.realpath(program))
        self.memories = {}
        memory = self.memory(self.pid)
        self.code = os.pread(memory, length, self.away + self.first)
        self.entered = []
        self.set_breakpoints(memory)

    def memory(self, pid):
        if pid not in self.memories:
            self.memories[pid] = os.open(f"/proc/{pid}/mem", os.O_RDWR)
        return self.memories[pid]

    def set_breakpoints(self, memory):
        code = bytearray(self.code)
        for address in self.table:
            if 0 <= address - self.first < len(code):
                code[address - self.first] = BREAKPOINT
        done = 0
        while done < len(code):
            piece = code[done : done + (1 << 20)]
            done += os.pwrite(memory, piece, self.away + self.first + done)

    def hit(self, pid):
        """Whether this stop was one of the breakpoints, which is taken away then."""
        registers = Registers()
        libc.ptrace(GET_REGISTERS, pid, None, ctypes.byref(registers))
        address = registers.rip - 1 - self.away
        if address not in self.table:
            return False
        byte = self.code[address - self.first :][:1]
        os.pwrite(self.memory(pid), byte, registers.rip - 1)
        registers.rip -= 1
        libc.ptrace(SET_REGISTERS, pid, None, ctypes.byref(registers))
        self.entered.append(address)
        return True

    def follow(self):
        libc.ptrace(GO_ON, self.pid, None, None)
        status_of_first = None
        while True:
            try:
                pid, status = os.waitpid(-1, ANY_CHILD)
            except ChildProcessError:
                return status_of_first
            if not os.WIFSTOPPED(status):
                if pid == self.pid:
                    status_of_first = os.waitstatus_to_exitcode(status)
                continue
            stopped_by = os.WSTOPSIG(status)
            is_event = status >> 16 != 0
            is_ours = stopped_by == signal.SIGTRAP and not is_event and self.hit(pid)
            given = 0 if is_event or is_ours or stopped_by == signal.SIGSTOP else stopped_by
            libc.ptrace(GO_ON, pid, None, given)


def main():
    run = Run(sys.argv[1], sys.argv[2:])
    code = run.follow()
    # The program's own words went to the same place; these are marked.
    for address in dict.fromkeys(run.entered):
        print(f"entered {address:x}")
    sys.exit(code)


main()
