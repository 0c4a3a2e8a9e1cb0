# SPDX-License-Identifier: BSD-3-Clause
"""Which memory an instruction of x86-64 accesses, by objdump's text of it."""
import re
import subprocess
import tempfile

READ, WRITE, PREFETCH = 1, 2, 4
# As rxtx-bench's struct bench_step has them, which is ucontext's order.
REGISTERS = ("r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rdi", "rsi", "rbp", "rbx", "rdx", "rax", "rcx",
             "rsp", "rip")
SLOT = 16  # bytes of code that are kept of an instruction: none is longer than 15

SIZES = {"BYTE": 1, "WORD": 2, "DWORD": 4, "FWORD": 6, "QWORD": 8, "TBYTE": 10, "XMMWORD": 16, "YMMWORD": 32,
         "ZMMWORD": 64}
LINE = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f ]+)\t(.*)$")
MEMORY = re.compile(r"(?:([A-Z]+) PTR )?(?:([a-z]s):)?\[([^]]+)\]")
THREAD = ("fs", "gs")  # segments whose address the registers do not tell
# Instructions that name memory and do not access it, that only read a destination, or only write one.
NEITHER = re.compile(r"lea|nop")
READS_FIRST = re.compile(r"cmp(?!xchg)|test|push|jmp|call|bt$|i?mul$|i?div$|v?u?comis|v?ptest|vtest|fld")
WRITES_FIRST = re.compile(r"mov|vmov|set|pop|v?pextr|vextract|kmov|stos|v?extractps|vcvtps2ph|vpmov|vpscatter")


class Unknown(Exception):
    """Such an instruction is not known here."""


def _terms(text):
    """[(register, factor)], displacement of an address such as rax+rbx*4-0x10."""
    registers, displacement = [], 0
    for part in re.findall(r"[+-]?[^+-]+", text):
        sign = -1 if part.startswith("-") else 1
        name, _, factor = part.lstrip("+-").partition("*")
        if re.fullmatch(r"0x[0-9a-f]+", name):
            displacement += sign * int(name, 16)
        elif name in REGISTERS:
            registers.append((REGISTERS.index(name), int(factor or 1)))
        elif name not in ("riz", "eiz"):
            raise Unknown(f"address [{text}]")
    return registers, displacement


def operands(text):
    """[(registers, displacement, bytes, READ | WRITE | PREFETCH)] of an instruction in Intel's syntax, without what it
    does to the stack by itself, and without variables of the thread."""
    text = re.sub(r"\s*[#<].*$", "", re.sub(r"^(?:(?:bnd|notrack|data16|cs|rep\w*|lock) )+", "", text)).strip()
    mnemonic, _, rest = text.partition(" ")
    if NEITHER.match(mnemonic):
        return []
    out = []
    for number, word in enumerate(re.split(r",(?![^\[]*\])", rest.strip())):
        found = MEMORY.search(word)
        if not found or found[2] in THREAD:
            continue
        if "{k" in word:
            raise Unknown(f"masked: {text}")
        if mnemonic.startswith("prefetch"):
            how, size = PREFETCH, 1
        else:
            if found[1] not in SIZES:
                raise Unknown(text)
            size = SIZES[found[1]]
            how = READ
            if number == 0 and not READS_FIRST.match(mnemonic):
                how = WRITE if WRITES_FIRST.match(mnemonic) else READ | WRITE
        out.append((*_terms(found[3]), size, how))
    return out


def decode(codes):
    """{code: (its length, what it accesses as operands() says)} of instructions, SLOT bytes each."""
    codes = sorted(codes)
    # The rest of a slot may be the beginning of something longer: enough of nop ends it before the next one.
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(code + b"\x90" * SLOT for code in codes))
        file.flush()
        text = subprocess.run(["objdump", "-D", "-z", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--wide",
                               file.name], check=True, text=True, stdout=subprocess.PIPE).stdout
    at = {int(found[1], 16): found for found in map(LINE.match, text.splitlines()) if found}
    found = [at[number * 2 * SLOT] for number in range(len(codes))]
    return {code: (len(line[2].split()), operands(line[3])) for code, line in zip(codes, found)}
