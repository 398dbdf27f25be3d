"""A wire between two processes that can be cut: nothing arrives any more, and nobody is told."""

import contextlib
import socket
import threading


class Proxy:
    """Listens on `port` and hands everything on to a port of this machine, until it is cut (what is on its way
    arrives when it is mended) or severed (all connections are closed, and new ones at once)."""

    def __init__(self, target_port):
        self.target_port = target_port
        self.whole = threading.Event()
        self.whole.set()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.sockets = []
        self.closed = False
        self.refuses = False

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.closed = True
        self.whole.set()
        self.hang_up()
        self.listener.close()

    def hang_up(self):
        for end in self.sockets:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        self.whole.clear()

    def sever(self):
        self.refuses = True
        self.hang_up()

    def mend(self):
        self.refuses = False
        self.whole.set()

    def accept(self):
        while not self.closed:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.connect, args=(near,), daemon=True).start()

    def connect(self, near):
        self.whole.wait()
        if self.refuses:
            near.close()
            return
        try:
            far = socket.create_connection(("127.0.0.1", self.target_port))
        except OSError:
            near.close()
            return
        self.sockets += [near, far]
        threading.Thread(target=self.pump, args=(near, far), daemon=True).start()
        self.pump(far, near)

    def pump(self, source, sink):
        try:
            while not self.closed:
                data = source.recv(1 << 16)
                self.whole.wait()
                if not data:
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
