"""
A pytest plugin for the tests of the Python SDK. Wherever a test starts an SMCP Server of that SDK, the plugin starts
our Server on the same port instead, with the versions and ping times of the Server that it replaces.

A2C_SERVER       the command of our Server, as a JSON list
A2C_SWAP_REPORT  the file to append one JSON object to for each test: its id, its outcome, and `wire`, whether an SMCP
                 Server ran during the test
"""

import ctypes
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import pytest
import uvicorn
import werkzeug.serving

COMMAND = json.loads(os.environ["A2C_SERVER"])
REPORT = os.environ["A2C_SWAP_REPORT"]
WRAPPED = ("_app", "app", "wsgi_app", "other_wsgi_app")

# What runs now: the id of a test, or a (name, baseid) pair while a fixture is set up. And all of these that started a
# Server: a fixture that lives longer than one test counts for each test that uses it.
current = None
started = set()


def layers(app):
    """The application and everything that it wraps, outermost first."""
    found = []
    while app is not None and not any(app is layer for layer in found):
        found.append(app)
        inner = [vars(app)[name] for name in WRAPPED if name in getattr(app, "__dict__", {})]
        app = next((layer for layer in inner if layer is not None), None)
    return found


def smcp_server(app):
    """The Socket.IO server in an application, when it serves the SMCP namespace."""
    for layer in layers(app):
        server = getattr(layer, "engineio_app", None) or getattr(layer, "engineio_server", None)
        handler = getattr(server, "namespace_handlers", {}).get("/smcp")
        names = [base.__name__ for base in type(handler).__mro__]
        if "SMCPNamespace" in names or "SyncSMCPNamespace" in names:
            return server
    return None


def accepted_version(app):
    """MAJOR.MINOR of the version middleware, or None when the application has no such middleware."""
    for layer in layers(app):
        if type(layer).__name__.startswith("A2CProtocolVersion"):
            version = layer._server
            return f"{version.major}.{version.minor}"
    return None


def start(app, server, port):
    started.add(current)
    version = accepted_version(app)
    arguments = ["--host", "127.0.0.1", "--port", str(port)]
    arguments += ["--allow-unversioned"] if version is None else ["--accept", version]
    arguments += ["--ping-interval", str(int(server.eio.ping_interval * 1000))]
    arguments += ["--ping-timeout", str(int(server.eio.ping_timeout * 1000))]
    process = subprocess.Popen(
        COMMAND + arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=end_with_parent,
    )
    if not process.stdout.readline().startswith("listening on"):
        process.kill()
        raise RuntimeError(f"Cannot start the Server: exit code {process.wait()}")
    return process


def end_with_parent():
    """Some tests end the process of their Server by SIGTERM, which runs no clean-up in Python."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def end(process):
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


original_startup, original_serve = uvicorn.Server.startup, uvicorn.Server.serve


async def startup(self, sockets=None):
    server = smcp_server(self.config.app)
    if server is None:
        return await original_startup(self, sockets=sockets)
    self.a2c_process = start(self.config.app, server, self.config.port)
    self.servers = []
    self.started = True


async def serve(self, sockets=None):
    try:
        await original_serve(self, sockets=sockets)
    finally:
        process = getattr(self, "a2c_process", None)
        if process is not None:
            end(process)


uvicorn.Server.startup, uvicorn.Server.serve = startup, serve


class SwappedServer:
    """Our Server behind the methods of a werkzeug server that the tests call."""

    def __init__(self, process):
        self._process = process
        self._ended = threading.Event()

    def serve_forever(self, *_arguments, **_options):
        self._ended.wait()

    def shutdown(self):
        self._ended.set()
        end(self._process)

    server_close = shutdown


original_make_server = werkzeug.serving.make_server


def make_server(host, port, app, *arguments, **options):
    server = smcp_server(app)
    if server is None:
        return original_make_server(host, port, app, *arguments, **options)
    return SwappedServer(start(app, server, port))


werkzeug.serving.make_server = make_server

original_process_start = multiprocessing.Process.start


def process_start(self):
    """Marks the test here: a Server that starts in a child process marks it only in that process."""
    name = getattr(self._target, "__name__", "")
    if name.startswith("_run_") and name.endswith("_server_process"):
        started.add(current)
    return original_process_start(self)


multiprocessing.Process.start = process_start


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef, request):
    global current
    outer, current = current, (fixturedef.argname, fixturedef.baseid)
    yield
    if current in started and outer is not None:
        started.add(outer)
    current = outer


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    global current
    current = item.nodeid
    yield
    current = None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.when != "call" and report.outcome == "passed":
        return
    fixtures = [fixture for found in item._fixtureinfo.name2fixturedefs.values() for fixture in found]
    is_wire = item.nodeid in started or any((f.argname, f.baseid) in started for f in fixtures)
    line = {"test": item.nodeid, "outcome": report.outcome, "wire": is_wire}
    with open(REPORT, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
