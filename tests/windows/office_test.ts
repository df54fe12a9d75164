/** A Windows machine in an office of Linux: it joins by code, is used beside a Linux machine, and is killed. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Agent, type RemoteComputer } from "../../agent.ts";
import { runDoor, startDoor } from "../fixtures/door.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { isFullSize } from "../fixtures/test_size.ts";
import { eventually } from "../fixtures/within.ts";
import { Launcher } from "./launcher.ts";
import { hasWindows, runOnWindows, startOnWindows, toWindowsPath } from "./wine.ts";

const OFFICE = "lab";
const TOKEN = "s3cret";

/** A Server that machines join by code, with its operator's commands. */
async function openServer(stack: AsyncDisposableStack) {
  const { path } = stack.use(new TempFolder());
  const env = { XDG_RUNTIME_DIR: path, XDG_STATE_HOME: path };
  const words = ["--port", "0", "--token", TOKEN, "--machines", `${path}/machines.json`];
  const url = await stack.use(startDoor("server.ts", words, { env })).listening();
  const machines = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await runDoor("server.ts", ["machines", ...words, "--json"], { env });
    assertEquals(code, 0, stderr);
    return JSON.parse(stdout);
  };
  return { url, machines, path };
}

type Office = Awaited<ReturnType<typeof openServer>>;

/** Joins from Windows; the operator on Linux approves the code that is shown there. */
async function joinFromWindows({ url, machines }: Office, env: Record<string, string>): Promise<void> {
  await using joining = startOnWindows("computer.ts", ["join", url, "--name", "desk"], { env });
  await joining.said("approve");
  const [, code = ""] = /^Code {2}(\S+)$/m.exec(joining.stdout.text) ?? [];
  const { waiting: [waits] } = await machines("list");
  assertEquals([waits.name, waits.system], ["desk", "windows x86_64"]);
  await machines("approve", code, "--office", OFFICE);
  const { code: exit, stdout, stderr } = await joining.end();
  assertEquals(exit, 0, stderr);
  assertMatch(stdout, /as "desk"/);
}

/** A Computer of this machine, which has a token. */
async function startRack(stack: AsyncDisposableStack, { url, path }: Office): Promise<void> {
  const config = `${path}/rack.json`;
  await Deno.writeTextFile(config, JSON.stringify({ servers: { kiosk: kioskOnStdio() } }));
  const place = ["--url", url, "--token", TOKEN, "--office", OFFICE, "--name", "rack"];
  const rack = stack.use(startDoor("computer.ts", [...place, "--config", config, "--headless"]));
  await rack.said("joined office");
}

async function echo(computer: RemoteComputer, text: string): Promise<string | undefined> {
  return (await computer.callTool("echo", { text })).content[0]?.text;
}

/** The window of the kiosk, and its page and that of a file in a folder of Windows. */
async function look(desk: RemoteComputer): Promise<void> {
  await desk.callTool("show", { text: "Grüße von drüben" });
  await eventually(
    () => desk.getDesktop(),
    (windows) => windows.some((window) => window.includes("Grüße von drüben")),
    "the text in the window",
  );
  const { documents } = await eventually(
    () => desk.getFinder(),
    ({ totalCount }) => totalCount === 2,
    "the documents of both MCP servers",
  );
  const texts = await Promise.all(documents.map(({ uri }) => desk.readPage(uri, 0, { format: "markdown" })));
  const text = texts.map(({ content_markdown }) => content_markdown).sort().join("\n");
  assertStringIncludes(text, "Tea and coffee");
  assertMatch(text, /\| North \| 5 \|\n\| South \| 7 \|/);
}

Deno.test({
  name: "a Windows machine joins by code, serves beside a Linux one, and leaves nothing when it is killed",
  ignore: !hasWindows || !isFullSize,
  async fn() {
    await using stack = new AsyncDisposableStack();
    const office = await openServer(stack);
    const { path: files } = stack.use(new TempFolder());
    await Deno.writeTextFile(
      `${files}/sales.md`,
      "# Sales\r\n\r\n| Region | Count |\r\n| --- | --- |\r\n| North | 5 |\r\n| South | 7 |\r\n",
    );
    // A drive letter, and slashes as JSON has them.
    const folder = toWindowsPath(files).replaceAll("\\", "/");
    const launcher = stack.use(new Launcher({ reports: { type: "documents", folders: [folder] } }));
    const { env } = launcher;
    await joinFromWindows(office, env);
    await startRack(stack, office);
    const words = ["--url", office.url, "--config", launcher.config, "--headless", "--auto-apply"];
    await using computer = startOnWindows("computer.ts", words, { env });
    await computer.said(`joined office "${OFFICE}" as "desk"`);

    const place = { url: office.url, token: TOKEN, office: OFFICE };
    await using agent = await Agent.connect({ ...place, name: "ada" });
    const [desk, rack] = [agent.computer("desk"), agent.computer("rack")];
    await eventually(
      () => desk.getTools(),
      (tools) => tools.some(({ name }) => name === "echo"),
      "its tools",
    );
    assertEquals([await echo(desk, "grüße"), await echo(rack, "hello")], ["grüße", "hello"]);
    await look(desk);

    const count = () => launcher.processes.length;
    const running = () =>
      eventually(
        () => launcher.processes,
        ({ length }) => length === Launcher.PROCESSES,
        "all its processes",
      );
    const before = await running();
    const restarted = await runOnWindows("computer.ts", ["server", "restart", "kiosk"], { env });
    assertEquals(restarted.code, 0, restarted.stderr);
    assertEquals(await echo(desk, "again"), "again");
    const after = await running();
    assertEquals(after.filter((pid) => before.includes(pid)), []);

    computer.kill("SIGKILL");
    await eventually(count, (left) => left === 0, "the end of all that the Windows machine has started");
    const members = async () => (await agent.listOffice()).map(({ name }) => name).sort();
    await eventually(
      members,
      (names) => names.join() === "ada,rack",
      "the office without the Windows machine",
    );
    assertEquals(await echo(rack, "still here"), "still here");
  },
});
