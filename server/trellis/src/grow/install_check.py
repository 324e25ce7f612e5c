import os
import shutil
import subprocess
import sys
import tempfile


def test_install():
    """`pip install -e .` on a copy, with what is here: nothing is fetched."""
    place = tempfile.mkdtemp()
    project = shutil.copytree(os.getcwd(), os.path.join(place, "project"))
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--no-deps"]
    command += ["--no-index", "--no-build-isolation", "--prefix", os.path.join(place, "prefix"), "-e", project]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=place)
    said = [line.strip() for line in (ran.stdout + ran.stderr).splitlines()]
    # What surrounds the errors names folders that are others each time.
    wrong = [line for line in said if "error" in line.lower() and place not in line and tempfile.gettempdir() not in line]
    assert ran.returncode == 0, "\n".join(wrong) or said[-1]
