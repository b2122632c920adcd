# A user at a terminal: runs a command there, and types. Each line of the input is what is typed, in Python's escapes, and behind ` => ` what the terminal must
# show before the next line is typed. What it showed since the line before is printed, without the terminal's own escapes.
import codecs
import os
import pty
import re
import select
import sys
import time

PATIENCE = 30
CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


unread = ""


# What the terminal shows, up to the text that is waited for.
def shown(terminal, wanted):
    global unread
    end = time.monotonic() + PATIENCE
    while wanted not in unread:
        if not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
            sys.exit(f"the terminal does not show {wanted!r}, but {unread!r}")
        try:
            unread = CONTROLS.sub("", unread + os.read(terminal, 1 << 16).decode())
        except OSError:
            sys.exit(f"the command ended before it showed {wanted!r}: {unread!r}")
    before, unread = unread.split(wanted, 1)
    return before + wanted


command = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
for line in sys.stdin:
    keys, wanted = line.rstrip("\n").split(" => ")
    os.write(terminal, codecs.decode(keys, "unicode_escape").encode())
    print(f"{keys}: {shown(terminal, wanted)}")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
