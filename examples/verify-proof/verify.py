#!/usr/bin/env python3
"""Checks Tagout proof files with nothing but the standard library.

usage: verify.py KEY-FILE ORIGIN PROOF-FILE...

One line per file: `ok NAME event INDEX of SIZE`, or `bad NAME: REASON`. The exit code is 0 only if
all of them hold. docs/reference/ledger.md specifies the format.
"""
import base64, hashlib, re, sys

P = 2**255 - 19                                               # Ed25519, RFC 8032 section 5.1
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
sha256 = lambda data: hashlib.sha256(data).digest()


class Bad(Exception):
    """Why a file does not hold."""


def need(condition, reason):
    if not condition:
        raise Bad(reason)


def recover_x(y, sign):
    xx = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if (x * x - xx) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    need((x * x - xx) % P == 0, "the key is not a point")
    return P - x if x & 1 != sign else x


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(n, p):
    q = (0, 1, 1, 0)
    while n:
        q, p, n = add(q, p) if n & 1 else q, add(p, p), n >> 1
    return q


def point(data):
    y = int.from_bytes(data, "little")
    x, y = recover_x(y % 2**255, y >> 255), y % 2**255
    return x, y, 1, x * y % P


BASE = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def signed(public, message, signature):
    if len(signature) != 64:
        return False
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(r + public + message).digest(), "little") % L
    x, y, z, t = point(public)
    x, y, z, _ = add(multiply(s, BASE), multiply(k, (P - x, y, z, P - t)))
    inverse = pow(z, P - 2, P)
    encoded = y * inverse % P | (x * inverse % P & 1) << 255
    return s < L and encoded.to_bytes(32, "little") == r


def unbase64(text, length=None):
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Bad("not base64") from None
    need(base64.b64encode(data).decode() == text, "not canonical base64")
    need(length in (None, len(data)), "wrong length")
    return data


def number(text):
    need(re.fullmatch("0|[1-9][0-9]*", text) and int(text) < 2**64, "not a plain number")
    return int(text)


def root_of(leaf, index, size, path):                         # RFC 9162 section 2.1.3.2
    need(index < size, "the event is outside the tree")
    node, last, value = index, size - 1, leaf
    for sibling in path:
        need(last, "too many hashes")
        if node & 1 or node == last:
            value = sha256(b"\1" + sibling + value)
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            value = sha256(b"\1" + value + sibling)
        node, last = node >> 1, last >> 1
    need(last == 0, "too few hashes")
    return value


NAME = re.compile("[!-*,-~]+")                                # visible ASCII without +
HEAD = re.compile(r'\{"seq":([0-9]+),"prev":".{64}","v":[0-9]+,"kind":"[^"]*","timestamp":-?[0-9]+')


def check(proof, key, origin):
    name, key_id, key_data = key.rstrip().split("+", 2)
    public = unbase64(key_data, 33)
    need(public[0] == 1 and sha256(f"{name}\n".encode() + public)[:4].hex() == key_id, "not a key")
    need(len(proof) <= 8 << 20, "too long")
    parts = proof.decode("utf-8", "strict").split("\n\n")
    need(len(parts) == 3 and parts[2].endswith("\n"), "not three parts")
    top, body, lines = parts[0].split("\n"), parts[1].split("\n"), parts[2][:-1].split("\n")
    need(len(top) >= 3 and top[0] == "tagout-proof/1" and len(body) == 3, "not a proof")
    line, index, path = top[1], number(top[2]), [unbase64(one, 32) for one in top[3:]]
    need(body[0] == origin and NAME.fullmatch(origin), "about another ledger")
    size, root, good = number(body[1]), unbase64(body[2], 32), False
    need(len(lines) <= 64, "too many signatures")
    for one in lines:
        match = re.fullmatch("\u2014 ([^ ]+) (.*)", one)
        need(match and NAME.fullmatch(match[1]), "not a signature line")
        data = unbase64(match[2])
        need(len(data) >= 4, "not a signature line")
        if match[1] == name and data[:4].hex() == key_id:
            good = signed(public[1:], "".join(f"{part}\n" for part in body).encode(), data[4:])
            need(good, "false signature")
    need(good, "not signed by this key")
    head = HEAD.match(line)
    need(head and number(head[1]) == index, "the event has another number")
    leaf = sha256(b"\0" + line.encode())
    need(root_of(leaf, index, size, path) == root, "the hashes do not lead to the signed root")
    return f"event {index} of {size}"


def main(arguments):
    key, failures = open(arguments[0], encoding="ascii").read(), 0
    for file in arguments[2:]:
        try:
            print("ok", file, check(open(file, "rb").read(), key, arguments[1]))
        except (Bad, UnicodeDecodeError) as reason:
            failures += 1
            print(f"bad {file}: {reason}")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 3 else __doc__)
