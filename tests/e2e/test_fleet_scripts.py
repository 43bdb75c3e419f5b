"""The scripts of deploy/fleet/, with command lines of clouds that start and stop a real sshd."""

import os
import subprocess
import unittest

import rented
import rig

FLEET = os.path.join(rig.SOURCE, "deploy", "fleet")
CLOUD = os.path.join(rig.SOURCE, "tests", "e2e", "cloud.py")


class Scripts(rented.Rented):
    def setUp(self):
        super().setUp()
        self.machine("box")
        os.mkdir(self.path("cloud"))
        for name in ("gcloud", "aws", "runpodctl", "vastai"):
            os.symlink(CLOUD, self.path("cloud", name))
        self.env["PATH"] = self.path("cloud") + ":" + self.env["PATH"]
        self.env["FA_CLOUD"] = self.of["box"].folder

    def keep_runners(self):
        """Nothing was built."""

    def script(self, name, *args, code=0, machine=""):
        env = {**self.env, "FA_ACQUISITION": "fa-3f2a91c0bb17", "FA_HOST": "l4-1", "FA_MACHINE": machine}
        done = subprocess.run([os.path.join(FLEET, name), *args], env=env, text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def check(self, name, start, stop):
        """Start it; stop it; stop it again, as after a stop= whose answer was lost."""
        self.script(name, *stop)
        said = self.script(name, *start)
        self.assertTrue(self.runs("box"))
        self.assertEqual(self.script(name, *start, code=1).count("quota exceeded"), 1)
        self.assertTrue(self.runs("box"))
        self.behave("box", "down")
        self.assertIn("the service does not answer", self.script(name, *stop, code=1))
        self.assertTrue(self.runs("box"))
        self.behave_again("box", "down")
        self.script(name, *stop)
        self.assertFalse(self.runs("box"))
        self.script(name, *stop)
        return said

    def test_gcloud(self):
        said = self.check("gcloud.sh", ("start", "us-west1-a", "l4"), ("stop", "us-west1-a"))
        self.assertIn("host=127.0.0.1 id=fa-3f2a91c0bb17", said)

    def test_aws(self):
        os.symlink("/bin/true", self.path("cloud", "sleep"))  # nobody waits
        start, stop = ("start", "us-west-2", "l4"), ("stop", "us-west-2")
        said = self.check("aws.sh", start, stop)
        self.assertIn("id=i-0fa-3f2a91c0bb17\nhost=127.0.0.1", said, "the id at once")
        for machine in "", "i-0fa-3f2a91c0bb17":
            with self.subTest("EC2 knows the machine late", machine=machine):
                self.script("aws.sh", *start)
                self.behave("box", "late", "4")
                self.script("aws.sh", *stop, machine=machine)
                self.assertFalse(self.runs("box"))
                self.script("aws.sh", *stop, machine=machine)
        self.script("aws.sh", *start)
        self.behave("box", "down")
        self.assertIn("the service does not answer", self.script("aws.sh", *stop, code=1, machine="i-0fa-3f2a91c0bb17"))
        self.behave_again("box", "down")
        self.script("aws.sh", *stop, machine="i-0fa-3f2a91c0bb17")
        self.assertFalse(self.runs("box"))

    def test_runpodctl(self):
        said = self.check("runpod.sh", ("start", "NVIDIA_L4", "image"), ("stop",))
        self.assertIn(f"host=127.0.0.1 port={self.of['box'].port} user=root id=podfa-3f2a91c0bb17", said)

    def test_vastai(self):
        said = self.check("vast.py", ("start", "L4", "0.40", "image"), ("stop",))
        self.assertIn(f"host=127.0.0.1 port={self.of['box'].port} user=root id=4711", said)
        self.script("vast.py", "start", "L4", "0.40", "image")
        self.behave("box", "refuses")
        self.assertIn("vastai destroy instance is refused: try again later", self.script("vast.py", "stop", code=1))
        self.assertTrue(self.runs("box"))
        self.assertIn("create instance is refused", self.script("vast.py", "start", "L4", "0.40", "image", code=1))
        self.behave_again("box", "refuses")
        self.script("vast.py", "stop")
        self.assertIn("no offer of H900", self.script("vast.py", "start", "H900", "0.40", "image", code=1))

    def test_a_script_says_how_it_is_used(self):
        self.assertIn("usage: gcloud.sh start ZONE TEMPLATE", self.script("gcloud.sh", "start", code=2))
        self.assertIn("usage: vast.py start GPU DOLLARS IMAGE", self.script("vast.py", "start", code=1))


if __name__ == "__main__":
    unittest.main()
