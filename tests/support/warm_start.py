"""What stands for an interpreter in `warm_python`: it hands its arguments, streams and environment to the server and
ends as the program did. Started without site packages, so that it takes 20 ms.
"""

import json
import os
import signal
import socket
import struct
import sys
from pathlib import Path


def main() -> None:
    """Start a module (`-m`) in the server; anything else, which it has no advantage for, in a real interpreter."""
    address, *arguments = sys.argv[1:]
    if arguments[:1] != ["-m"]:
        os.execv(sys.executable, [sys.executable, *arguments])
    told = json.dumps({"arguments": arguments[1:], "environment": dict(os.environ), "folder": str(Path.cwd())}).encode()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [struct.pack("!I", len(told))], [0, 1, 2])
        server.sendall(told)
        answer = server.recv(4, socket.MSG_WAITALL)
    if len(answer) < 4:
        sys.exit("the warm interpreter ended before its program")
    (status,) = struct.unpack("!i", answer)
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) != signal.SIGKILL:  # its handler cannot be set
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
