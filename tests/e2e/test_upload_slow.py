"""What ends an upload over a link that breaks off is time without progress."""

import socket
import unittest

import boxes
import rig


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Stuck(boxes.Boxes):
    def test_the_message_says_that_it_got_no_further(self):
        line, proxy = self.by_proxy("a", self.stand_in("a", "beats"))
        proxy.cuts = [100_000]
        proxy.before_cut = lambda cut: proxy.listener.shutdown(socket.SHUT_RDWR)
        self.sweep(self.small(), line, within=120)
        self.finish(code=3)
        self.assertIn("no progress with the upload for 30 s: connect: 127.0.0.1 port", self.stderr())
        self.assertIn("no usable host", self.stderr())
