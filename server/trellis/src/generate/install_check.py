import json
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


# What a module prints, or does to the process, is its own business.
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
    """Every module is imported, by an interpreter that has nothing else of the project loaded."""
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
