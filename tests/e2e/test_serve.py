"""fa-coord serve: the pages of databases over HTTP, to one who knows the token and asks for no more."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import unittest
import urllib.parse

import rig


class Serve(rig.Rig):

    def setUp(self):
        super().setUp()
        self.servers = []

    def tearDown(self):
        for server in self.servers:
            if server.poll() is None:
                server.terminate()
            code, said = server.wait(120), server.stderr.read()
            server.stdout.close()
            server.stderr.close()
            self.assertEqual((code, said), (0, ""))
        super().tearDown()

    def database(self, name):
        path = self.path(name)
        shutil.copy(os.path.join(rig.FIXTURES, "compare", "base.db"), path)
        return path

    def serve(self, *arguments):
        server = subprocess.Popen([os.path.join(self.bin, "fa-coord"), "serve", *arguments], cwd=self.folder,
                                  env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        url = server.stdout.readline()
        if not url:
            said = server.communicate()[1]
            if "built without libmicrohttpd" in said:
                self.skipTest("fa-coord was built without libmicrohttpd")
            self.fail(said)
        self.servers.append(server)
        self.assertRegex(url, r"\Ahttp://127\.0\.0\.1:\d+/[0-9a-f]{32}/\n\Z")
        parts = urllib.parse.urlsplit(url.strip())
        self.port, self.token = parts.port, parts.path
        return server

    def ask(self, path, method="GET", headers=None, host="127.0.0.1", body=None):
        connection = http.client.HTTPConnection(host, self.port, timeout=120)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def version(self, number=1):
        status, _, body = self.ask(f"{self.token}{number}/version")
        self.assertEqual(status, 200)
        return json.loads(body)

    def raw(self, text):
        with socket.create_connection(("127.0.0.1", self.port), timeout=120) as connection:
            connection.sendall(text.encode())
            answer = b""
            while part := connection.recv(1 << 16):
                answer += part
        return answer.decode()

    def test_only_the_token_opens_a_page(self):
        self.database("one.db")
        server = self.serve("one.db")
        token, wrong = self.token, "/" + "0" * 32 + "/"
        for path, method, headers, expected in (
                (token, "GET", {}, 302), (token + "1/", "GET", {}, 200), (token + "1/", "HEAD", {}, 200),
                (token + "1/version", "GET", {}, 200),
                (token + "2/", "GET", {}, 404), (token + "1/../../etc/passwd", "GET", {}, 404),
                (token + "%31/", "GET", {}, 404), (token + "one.db", "GET", {}, 404),
                (wrong, "GET", {}, 403), ("/", "GET", {}, 403), ("/" + token[1:].upper(), "GET", {}, 403),
                (wrong, "POST", {}, 403), (token + "1/", "POST", {}, 405), (token + "1/", "OPTIONS", {}, 405),
                (token + "1/", "GET", {"Host": f"evil.example:{self.port}"}, 403),
                (token + "1/", "GET", {"Host": "127.0.0.1"}, 403),
                (token + "1/", "GET", {"Host": f"localhost:{self.port}"}, 200)):
            with self.subTest(path=path, method=method, headers=headers):
                status, _, body = self.ask(path, method, headers)
                self.assertEqual(status, expected)
                if status != 200:
                    self.assertEqual(body, b"")
        status, headers, body = self.ask(token + "1/")
        self.assertIn("connect-src 'self'", body.decode().split("<style>", maxsplit=1)[0])
        self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")
        server.send_signal(signal.SIGINT)
        self.assertEqual(server.wait(120), 0)

    def test_odd_requests_are_refused_and_do_no_harm(self):
        self.database("one.db")
        self.serve("one.db")
        page = f"GET {self.token}1/version HTTP/1.1\r\n"
        host = f"Host: 127.0.0.1:{self.port}\r\nConnection: close\r\n"
        for text, code in ((page + host + "\r\n", "200"), (page + host + host + "\r\n", "403"),
                           (page + host + "Content-Length: 1000000000\r\n\r\nx", "413"),
                           (page + host + "X: " + "x" * 40000 + "\r\n\r\n", "4")):
            with self.subTest(text=text[:200]):
                try:
                    answer = self.raw(text)
                except OSError:  # closed before all was sent
                    answer = ""
                if answer:
                    self.assertRegex(answer, rf"\AHTTP/1\.[01] {code}")
                else:
                    self.assertIn(code, ("4", "413"))
        self.assertEqual(self.version()["problem"], "")

    def test_half_requests_keep_nobody_out(self):
        self.database("one.db")
        self.serve("one.db")
        halves = []
        try:
            for _ in range(150):
                halves.append(socket.create_connection(("127.0.0.1", self.port), timeout=120))
                halves[-1].sendall(b"GET / HTTP/1.1\r\n")
            started = time.monotonic()
            self.assertEqual(self.version()["problem"], "")
        finally:
            for half in halves:
                half.close()
        self.assertEqual(self.version()["problem"], "")
        self.assertLess(time.monotonic() - started, 20 * rig.PATIENCE)

    def test_it_listens_on_loopback_only(self):
        self.database("one.db")
        self.serve("one.db")
        with open("/proc/net/tcp", encoding="ascii") as f:
            at = [line.split()[1] for line in f if line.split()[1].endswith(f":{self.port:04X}")
                  and line.split()[3] == "0A"]
        self.assertEqual(at, [f"0100007F:{self.port:04X}"])
        with open("/proc/net/tcp6", encoding="ascii") as f:
            at = {line.split()[1] for line in f if line.split()[1].endswith(f":{self.port:04X}")
                  and line.split()[3] == "0A"}
        self.assertLessEqual(at, {f"00000000000000000000000001000000:{self.port:04X}"})
        if at:
            self.assertEqual(self.ask(self.token, host="::1")[0], 302)

    def test_a_version_changes_with_its_database(self):
        path = self.database("one.db")
        self.serve("one.db")
        status, headers, body = self.ask(self.token + "1/version")
        first = json.loads(body)
        self.assertEqual((first["running"], first["problem"], first["notice"]), (False, "", ""))
        known = {"If-None-Match": headers["ETag"]}
        rig.until("nothing changed", lambda: self.ask(self.token + "1/version", headers=known)[0] == 304)
        self.assertIn(f'data-version="{first["version"]}"', self.ask(self.token + "1/")[2].decode())

        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version = 99")
        bad = rig.until("it cannot be read", lambda: next(filter(lambda v: v["problem"], [self.version()]), None))
        self.assertEqual(bad["version"], first["version"])
        self.assertEqual(self.ask(self.token + "1/")[0], 200)

        os.rename(path, path + ".old")
        gone = rig.until("it is gone", lambda: next(filter(lambda v: "deleted" in v["problem"], [self.version()]), None))
        self.assertIn("one.db was deleted or moved; this is what it held", gone["problem"])

        self.database("one.db")
        back = rig.until("it is back", lambda: next(filter(lambda v: not v["problem"], [self.version()]), None))
        self.assertNotEqual(back["version"], first["version"])
        self.assertIn("was replaced by another file", back["notice"])

    def test_several_databases_are_compared(self):
        self.database("one.db")
        self.database("two.db")
        self.serve("one.db", "two.db")
        status, headers, body = self.ask(self.token)
        text = body.decode()
        self.assertEqual(status, 200)
        self.assertNotIn("Refresh", headers)
        self.assertEqual(re.findall(r'href="([^"]*)"', text), ["1/", "2/"])
        rows = re.findall(r"<tr>(.*?)</tr>", text, re.S)
        self.assertEqual(len(rows), 3)
        self.assertNotIn("<script", text)
        self.assertEqual(self.ask(self.token + "2/")[0], 200)
        self.assertEqual(self.ask(self.token + "3/")[0], 404)

    def test_what_cannot_be_served_is_said_at_once(self):
        for arguments, code, said in ((["gone.db"], 7, "there is no database gone.db"),
                                      (["--port", "70000", "gone.db"], 2, "--port 70000: at most 65535")):
            with self.subTest(arguments):
                self.assertIn(said, self.run_coord(self.folder, "serve", *arguments, code=code).stderr)


if __name__ == "__main__":
    unittest.main()
