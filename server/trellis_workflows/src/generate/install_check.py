import json
import os
import shutil
import subprocess
import sys
import tempfile


def test_install():
    """Runs `pip install -e .` on a copy, offline and with the packages that are installed here."""
    place = tempfile.mkdtemp()
    project = shutil.copytree(os.getcwd(), os.path.join(place, "project"))
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--no-deps"]
    command += ["--no-index", "--no-build-isolation", "--prefix", os.path.join(place, "prefix"), "-e", project]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=place)
    said = [line.strip() for line in (ran.stdout + ran.stderr).splitlines()]
    # Other lines name folders that differ from run to run.
    wrong = [line for line in said if "error" in line.lower() and place not in line and tempfile.gettempdir() not in line]
    assert ran.returncode == 0, "\n".join(wrong) or said[-1]


# A separate process imports the modules, since they may print or end the process.
IMPORTER = """
import importlib, json, sys
wrong = []
for name in json.load(open(sys.argv[1]))["modules"]:
    try:
        importlib.import_module(name)
    except BaseException as error:
        wrong.append(f"{name}: {type(error).__name__}: {error}".splitlines()[0])
with open(sys.argv[2], "w") as file:
    file.write("\\n".join(wrong))
"""


def test_imports():
    """Imports every module in an interpreter that has loaded nothing else of the project."""
    project = os.getcwd()
    place = os.path.join(project, ".trellis-install", "modules.json")
    with open(place) as file:
        roots = json.load(file)["roots"]
    paths = os.pathsep.join(os.path.join(project, root) for root in roots)
    said = os.path.join(tempfile.mkdtemp(), "said")
    environment = dict(os.environ, PYTHONPATH=paths)
    subprocess.run([sys.executable, "-c", IMPORTER, place, said], capture_output=True, cwd=project, env=environment)
    assert os.path.exists(said), "the interpreter ended before all modules were imported"
    with open(said) as file:
        wrong = file.read()
    assert not wrong, wrong
