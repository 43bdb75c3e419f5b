"""A TCP proxy whose connections suffer: delays, trickles, silences, cuts, ends that are open on one side only."""

import random
import socket
import threading
import time

TURN_S = 0.05  # how often a thread looks whether all is over
TRICKLE_BYTES = 2000
ENDS = ("cut", "half")  # the kinds of which a connection ends


class Fate:
    """What happens to one connection; the same for the same seed.

    kind: 'delay'    each piece waits a little
          'trickle'  the first bytes come one by one
          'silence'  after some bytes nothing passes for some seconds
          'cut'      after some bytes both sides are closed
          'half'     after some bytes one direction carries nothing any more
          'clean'
    """

    KINDS = ("delay", "trickle", "silence", "cut")

    def __init__(self, chance, kinds):
        self.kind = chance.choice(kinds)
        # Of the bytes to the server: the login has some 3 kB, a worker 3.5 MB.
        self.after = int(10 ** chance.uniform(2, 6.7)) if chance.random() < 0.5 else chance.randint(200, 40000)
        self.seconds = chance.uniform(0.5, 2.5)
        self.delay_s = chance.uniform(0.001, 0.02)
        self.to_server = chance.random() < 0.5  # of 'half': the direction that ends

    def __str__(self):
        return f"{self.kind} after {self.after}"


def close_both_ways(end):
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:  # it is closed
        pass


class FaultyProxy:
    """Carries connections to a port of this machine.

    At most 'in_a_row' connections one after the other are cut, and all are
    clean after the first 'faulty' ones, so that a sweep can end.
    """

    def __init__(self, port, seed, kinds=Fate.KINDS, faulty=6, in_a_row=2):
        self.to, self.kinds, self.faulty, self.in_a_row = port, kinds, faulty, in_a_row
        self.chance = random.Random(seed)
        self.fates = []
        self.ends = []  # all sockets, closed when no thread uses them
        self.over = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.threads = [threading.Thread(target=self._accept)]
        self.threads[0].start()

    def close(self):
        self.over = True
        self.listener.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        for end in self.ends + [self.listener]:
            end.close()

    def _draw(self):
        kinds = self.kinds
        last = self.fates[-self.in_a_row:]
        if len(last) == self.in_a_row and all(fate.kind in ENDS for fate in last):
            kinds = [kind for kind in kinds if kind not in ENDS]
        fate = Fate(self.chance, kinds)
        if len(self.fates) >= self.faulty:
            fate.kind = "clean"
        self.fates.append(fate)
        return fate

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
                self.ends.append(near)
                far = socket.create_connection(("127.0.0.1", self.to))
                self.ends.append(far)
            except OSError:
                return
            fate = self._draw()
            for source, sink, to_server in (near, far, True), (far, near, False):
                source.settimeout(TURN_S)
                thread = threading.Thread(target=self._carry, args=(source, sink, to_server, fate))
                self.threads.append(thread)
                thread.start()

    def _carry(self, source, sink, to_server, fate):
        carried = 0
        dead = False
        try:
            while not self.over:
                try:
                    piece = source.recv(16384)
                except TimeoutError:
                    continue
                if not piece:
                    break
                if dead:  # it is lost, and the sender does not know
                    continue
                dead = self._pass(piece, carried, sink, to_server, fate)
                carried += len(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        if fate.kind == "cut" or self.over:
            for end in source, sink:
                close_both_ways(end)

    def _pass(self, piece, carried, sink, to_server, fate):
        """Send a piece as the fate wants it; True if this direction ends in silence."""
        reached = carried <= fate.after < carried + len(piece)
        if fate.kind == "delay":
            time.sleep(fate.delay_s)
        elif fate.kind == "trickle" and carried < TRICKLE_BYTES:
            for i in range(len(piece)):
                sink.sendall(piece[i:i + 1])
            return False
        elif fate.kind == "silence" and reached:
            self._sleep(fate.seconds)
        elif fate.kind == "cut" and to_server and reached:
            sink.sendall(piece[:fate.after - carried])
            raise ConnectionResetError
        elif fate.kind == "half" and to_server == fate.to_server and reached:
            return True
        sink.sendall(piece)
        return False

    def _sleep(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.over:
            time.sleep(TURN_S)
