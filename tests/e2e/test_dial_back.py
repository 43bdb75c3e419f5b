"""Workers that dial back (transport=tcp) with an invitation, on the cpu device."""

import json
import os
import re
import signal
import socket
import subprocess
import time
import unittest

import rig


# The part of Kubernetes' schema (v1 Secret and List, batch/v1 Job) that the document uses: a type, a pattern, a list of
# one form, or an object with exactly these members.
LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": LABEL}, "type": "Opaque", "stringData": dict}
JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": LABEL}, "spec": {
    "completionMode": "NonIndexed|Indexed", "completions": int, "parallelism": int, "template": {"spec": {
        "restartPolicy": "Never|OnFailure",
        "containers": [{"name": LABEL, "image": ".+", "command": [".+"], "resources": {"limits": {"nvidia.com/gpu": "[0-9]+"}},
                        "volumeMounts": [{"name": LABEL, "mountPath": "/.*", "readOnly": bool}]}],
        "volumes": [{"name": LABEL, "secret": {"secretName": LABEL, "defaultMode": int}}]}}}}


def flaws(value, form, path="$"):
    """Where 'value' is not of that form."""
    if isinstance(form, dict):
        if not isinstance(value, dict) or set(value) != set(form):
            return [f"{path}: {value}"]
        return [flaw for key in form for flaw in flaws(value[key], form[key], f"{path}.{key}")]
    if isinstance(form, list):
        if not isinstance(value, list) or not value:
            return [f"{path}: {value}"]
        return [flaw for i, item in enumerate(value) for flaw in flaws(item, form[0], f"{path}[{i}]")]
    if isinstance(form, str):
        return [] if isinstance(value, str) and re.fullmatch(form, value, re.S) else [f"{path}: {value}"]
    return [] if type(value) is form else [f"{path}: {value}"]


class DialBack(rig.Rig):
    def worker(self, invitation, name="node", stdin=False):
        """A worker started by hand, with a work folder of its own."""
        workdir = self.with_runner(self.path(name))
        with open(self.path(f"{name}.log"), "ab") as log, open(invitation) as file:
            return subprocess.Popen([os.path.join(self.bin, "fa-worker"), "--workdir", workdir,
                                     *([] if stdin else ["--invitation", invitation])],
                                    stdin=file if stdin else subprocess.DEVNULL, stdout=log, stderr=log, env=self.env,
                                    cwd=self.folder)

    def invitation(self, folder, host):
        path = os.path.join(folder, "vector_add.db.invitations", host)
        rig.until(f"the invitation of {host}", lambda: os.path.exists(path))
        return path

    def sweep(self, folder, *lines, listen="127.0.0.1"):
        return self.start(folder, "sweep", "--device", "cpu", "--hosts", self.hosts(*lines), "--listen", listen)

    def log(self):
        with open(self.path("log")) as f:
            return f.read()

    def end(self, process, code=0):
        self.assertEqual(process.wait(120), code, self.stderr() if os.path.exists(self.path("stderr")) else "")

    def test_two_workers_dial_back_and_all_steps_of_the_command_use_them(self):
        folder = self.few(confirm=True)
        coord = self.sweep(folder, "a transport=tcp", "b transport=tcp rate=0.5")
        invitation = self.invitation(folder, "a")
        with self.subTest("what is secret is private"):
            self.assertEqual(os.stat(invitation).st_mode & 0o777, 0o600)
            self.assertEqual(os.stat(os.path.dirname(invitation)).st_mode & 0o777, 0o700)
            self.assertEqual(os.stat(os.path.join(folder, "vector_add.db.dial")).st_mode & 0o777, 0o600)
        workers = [self.worker(invitation, "a"), self.worker(self.invitation(folder, "b"), "b", stdin=True)]
        self.assertIn(coord.wait(240), (0, 1), self.stderr())  # emulated times: with or without a winner
        for worker in workers:
            self.end(worker)
        self.assertNotIn("silent", self.stderr())
        self.assertEqual(self.query(folder, "SELECT count(DISTINCT host) FROM result WHERE counted = 1"), [(2,)])
        self.assert_invariants(folder)

    def test_it_waits_for_the_worker_and_pays_for_none_until_then(self):
        folder = self.few()
        coord = self.sweep(folder, "a transport=tcp rate=3600")
        invitation = self.invitation(folder, "a")
        rig.until("it says what it waits for", lambda: invitation in self.stderr())
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        worker = self.worker(invitation)
        self.end(coord)
        self.end(worker)
        [(start,)] = self.query(folder, "SELECT min(start_ns) FROM interval")
        self.assertGreaterEqual(start, before)
        with self.subTest("doctor does not look for it"):
            said = self.run_coord(folder, "doctor", "--device", "cpu", "--hosts", self.path("hosts.txt"), code=None).stdout
            self.assertIn("dials back", said)
        with self.subTest("the keys are gone with the sweep"):
            self.assertEqual([n for n in os.listdir(folder) if ".dial" in n or ".invitations" in n], [])

    def test_a_killed_coordinator_comes_back_to_its_workers(self):
        folder = self.few()
        coord = self.sweep(folder, "a transport=tcp")
        worker = self.worker(self.invitation(folder, "a"))
        rig.until("a result", lambda: self.settled(folder))
        coord.kill()
        coord.wait()
        self.run_coord(folder, "resume")
        self.end(worker)
        self.assert_invariants(folder)
        self.assertEqual(self.query(folder, "SELECT count(*) FROM outcome WHERE outcome = 'correct'"), [(4,)])

    def test_a_killed_coordinator_owes_its_worker_an_acknowledgement(self):
        folder = self.few(BLOCK_SIZE=[32, 64, 128, 256, 512], ITEMS=[1, 2, 4, 8])
        coord = self.sweep(folder, "a transport=tcp")
        worker = self.worker(self.invitation(folder, "a"))
        rig.until("a result", lambda: self.settled(folder))

        def is_owed():
            """It may not be measuring when the coordinator is stopped: then go on for a moment."""
            coord.send_signal(signal.SIGCONT)
            time.sleep(0.02)
            coord.send_signal(signal.SIGSTOP)
            time.sleep(0.3)
            with open(self.path("node", "journal"), "rb") as f:
                return b"MEASURED" in f.read()

        rig.until("a measurement is in the journal only", is_owed)
        coord.kill()
        coord.wait()
        self.run_coord(folder, "resume")
        self.end(worker)
        self.assert_invariants(folder)
        self.assertEqual(self.query(folder, "SELECT count(*) FROM outcome WHERE outcome = 'correct'"), [(20,)])

    def test_a_worker_that_is_killed_is_replaced_by_the_next_one_with_its_invitation(self):
        folder = self.few(BLOCK_SIZE=[32, 64, 128, 256, 512], ITEMS=[1, 2, 4, 8])  # not done before the second is here
        coord = self.sweep(folder, "a transport=tcp")
        invitation = self.invitation(folder, "a")
        two = {name: self.worker(invitation, name) for name in ("first", "other")}
        rig.until("one of two to be sent away", lambda: [p for p in two.values() if p.poll() is not None])
        refused, kept = sorted(two, key=lambda name: two[name].poll() is None)
        self.end(two[refused])
        said = rf"a: two workers have the invitation of a: fa-worker {two[kept].pid} on .*, and fa-worker {two[refused].pid} on .*"
        rig.until("both to be named", lambda: re.search(said, self.stderr()))
        with open(self.path(f"{refused}.log")) as log:
            self.assertRegex(log.read(), said[3:])
        rig.until("a result", lambda: self.settled(folder))
        two[kept].kill()
        two[kept].wait()
        third = self.worker(invitation, "third")
        self.end(coord)
        self.end(third)
        self.assertEqual(self.stderr().count("two workers have"), 1)
        self.assert_invariants(folder)

    def test_foreign_clients_are_refused_and_do_no_harm(self):
        folder = self.few()
        coord = self.start(folder, "sweep", "--device", "cpu", "--hosts", self.hosts("a transport=tcp"), "--listen",
                           "127.0.0.1", "--log", self.path("log"))
        invitation = self.invitation(folder, "a")
        with open(invitation) as f:
            text = f.read()
        port = int(re.search(r"endpoint tcp://127\.0\.0\.1:(\d+)", text)[1])
        noise = []
        for i in range(64):
            noise.append(socket.create_connection(("127.0.0.1", port)))
            noise[-1].sendall(os.urandom(64) if i % 2 else b"GET / HTTP/1.1\r\n\r\n")
        # a key pair that was not given away, of a database that is another one's
        other = self.few(to=self.path("other"))
        self.run_coord(other, "invite", "stranger", "--listen", "127.0.0.1")
        with open(os.path.join(other, "vector_add.db.invitations", "stranger")) as f:
            theirs = f.read()
        forged = re.sub(r"(?m)^server_key .*", lambda _: re.search(r"(?m)^server_key .*", text)[0], theirs)
        forged = re.sub(r"(?m)^endpoint .*", lambda _: re.search(r"(?m)^endpoint .*", text)[0], forged)
        with open(self.path("forged"), "w") as f:
            f.write(forged)
        stranger = self.worker(self.path("forged"), "stranger")
        rig.until("the stranger is counted", lambda: "CLIENTS-REFUSED" in self.log())
        worker = self.worker(invitation)
        self.end(coord)
        self.end(worker)
        stranger.terminate()
        stranger.wait(60)
        for one in noise:
            one.close()
        self.assertEqual(self.query(folder, "SELECT count(*) FROM outcome WHERE outcome = 'correct'"), [(4,)])

    def test_pods_of_kubernetes_dial_back(self):
        folder = self.few()
        self.run_coord(folder, "invite", "pod[0-1]", "--listen", "127.0.0.1", "--kubernetes", "registry/fa:1")
        path = self.invitation(folder, "kubernetes.json")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with open(path) as f:
            document = json.load(f)
        self.assertEqual((document["apiVersion"], document["kind"]), ("v1", "List"))
        secret, job = document["items"]
        self.assertEqual(flaws(secret, SECRET) + flaws(job, JOB), [])
        spec = job["spec"]["template"]["spec"]
        self.assertEqual(spec["volumes"][0]["secret"]["secretName"], secret["metadata"]["name"])
        self.assertEqual(job["spec"]["completions"], 2)
        with self.subTest("the command of a pod is a worker"):
            os.makedirs(self.path("secret"))
            for name, text in secret["stringData"].items():
                with open(self.path("secret", name), "w") as f:
                    f.write(text)
            workdir = self.with_runner(self.path("pod"))
            *shell, script = spec["containers"][0]["command"]
            script = script.replace("/invitations", self.path("secret")).replace("/tmp/fa-coord", workdir)
            coord = self.sweep(folder, "pod[0-1] transport=tcp")
            pod = subprocess.Popen([*shell, script], stdin=subprocess.DEVNULL, cwd=self.folder, stderr=subprocess.DEVNULL,
                                   env={**self.env, "PATH": f"{self.bin}:{self.env['PATH']}", "JOB_COMPLETION_INDEX": "1"})
            self.end(coord)
            self.end(pod)
            self.assertEqual(self.query(folder, "SELECT DISTINCT host FROM result"), [("pod1",)])

    def test_a_worker_tries_each_address(self):
        folder = self.few()
        coord = self.sweep(folder, "a transport=tcp")
        with open(self.invitation(folder, "a")) as f:
            text = f.read()
        with open(self.path("two"), "w") as f:
            f.write(text.replace("endpoint ", "endpoint tcp://127.0.0.1:1,"))  # nothing answers at the first
        worker = self.worker(self.path("two"))
        self.end(coord)
        self.end(worker)


if __name__ == "__main__":
    unittest.main()
