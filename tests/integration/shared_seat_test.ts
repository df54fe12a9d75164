/** Programs of one user on one machine that share the Agent's seat of an office. */
import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { runDoor, startDoor } from "../fixtures/door.ts";
import { isWindows } from "../fixtures/system.ts";
import { eventually } from "../fixtures/within.ts";
import { textResult } from "./_scripted_computer.ts";
import { type ClientWindow, WindowOffice } from "./_windows.ts";

const NAMES = ["Claude", "Cursor", "Codex"] as const;

Deno.test("windows that start at once share one seat, and each calls under its own name", async () => {
  await using office = await WindowOffice.open();
  await using stack = new AsyncDisposableStack();
  const windows = await Promise.all(NAMES.map(async (name) => stack.use(await office.client(name))));
  const outcomes = await Promise.all(windows.map((client, n) => client.call("echo", { n })));
  assertEquals(outcomes, NAMES.map((_, n) => ({ isError: false, text: JSON.stringify({ n }) })));
  assertEquals(await office.seated(), ["ada"]);
  const callers = office.computer.requests.filter(({ event }) => event === "client:tool_call")
    .map(({ body }) => body["agent"]).sort();
  assertEquals(callers, ["ada/Claude", "ada/Codex", "ada/Cursor"]);
});

Deno.test("a window that is closed or killed leaves the seat to the next one", async () => {
  await using office = await WindowOffice.open();
  await using first = await office.client();
  assertEquals((await first.call("echo", { n: 1 })).isError, false);
  await using second = await office.client();
  await using third = await office.client();
  for (const client of [second, third]) assertEquals((await client.call("echo", { n: 2 })).isError, false);

  await first.close();
  // Neither had begun a call, so that none is lost.
  assertEquals((await second.call("echo", { n: 3 })).isError, false);
  assertEquals((await third.call("echo", { n: 4 })).isError, false);
  second.signal("SIGKILL");
  await second.ended;
  assertEquals((await third.call("echo", { n: 5 })).isError, false);
  third.signal("SIGKILL");
  await third.ended;
  await eventually(() => office.seated(), (names) => names.length === 0, "an empty seat");
});

const LOST = /connection to the office was lost during the call. The tool may have run/;

/** Two windows, of which the first holds the seat. */
async function openTwo(
  office: WindowOffice,
  stack: AsyncDisposableStack,
): Promise<readonly [ClientWindow, ClientWindow]> {
  const holder = stack.use(await office.client("Claude"));
  assertEquals((await holder.call("echo")).isError, false);
  const guest = stack.use(await office.client("Cursor"));
  assertEquals((await guest.call("echo")).isError, false);
  return [holder, guest];
}

Deno.test("a call that had begun when the holder was killed says so, and the next one works", async () => {
  await using office = await WindowOffice.open();
  await using stack = new AsyncDisposableStack();
  const [holder, guest] = await openTwo(office, stack);
  const begun = guest.call("hold", { n: 1 });
  await eventually(() => office.ran("hold").length, (count) => count === 1, "the call at the Computer");
  holder.signal("SIGKILL");
  const { isError, text } = await begun;
  assertEquals(isError, true);
  assertMatch(text, LOST);
  assertEquals((await guest.call("echo", { n: 2 })).isError, false);
  assertEquals([office.ran("hold").length, guest.twice], [1, []]);
});

// Windows stops no programs.
Deno.test("a call that the holder had not read when it was killed is made by the next one, once", {
  ignore: isWindows,
}, async () => {
  await using office = await WindowOffice.open();
  await using stack = new AsyncDisposableStack();
  const [holder, guest] = await openTwo(office, stack);
  holder.signal("SIGSTOP");
  const begun = [1, 2, 3].map((n) => guest.call("hold", { n }));
  office.release();
  // The window has read the calls before.
  await guest.request("ping");
  holder.signal("SIGKILL");
  assertEquals((await Promise.all(begun)).map(({ isError }) => isError), [false, false, false]);
  assertEquals([office.ran("hold").length, guest.twice], [3, []]);
});

Deno.test("a holder that is closed waits for the calls of the others", async () => {
  await using office = await WindowOffice.open();
  await using stack = new AsyncDisposableStack();
  const [holder, guest] = await openTwo(office, stack);
  const begun = guest.call("hold", { n: 1 });
  await eventually(() => office.ran("hold").length, (count) => count === 1, "the call at the Computer");
  const closed = holder.close();
  // It still serves.
  assertEquals((await guest.call("echo", { n: 2 })).isError, false);
  office.release();
  assertEquals(await begun, { isError: false, text: JSON.stringify({ n: 1 }) });
  await closed;
  assertEquals((await guest.call("echo", { n: 3 })).isError, false);
});

Deno.test("the calls of a program that is killed are cancelled, and nobody else's", async () => {
  await using office = await WindowOffice.open();
  await using stack = new AsyncDisposableStack();
  const [holder, guest] = await openTwo(office, stack);
  const kept = holder.call("hold", { n: 1 });
  void guest.call("hold", { n: 2 }).catch(() => undefined);
  await eventually(() => office.ran("hold").length, (count) => count === 2, "both calls at the Computer");
  const cancelled = office.computer.next("notify:tool_call_cancel");
  guest.signal("SIGKILL");
  const { req_id } = await cancelled;
  const { body } = office.computer.requests.find(({ body }) => body["req_id"] === req_id) ?? {};
  assertEquals(body?.["params"], { n: 2 });
  office.release();
  assertEquals((await kept).isError, false);
});

/** Passes connections on to a port, and keeps the far end open when the near one is gone. */
function openGhostlyWire(port: number): { readonly url: string } & Disposable {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const ends: Deno.TcpConn[] = [];
  void (async () => {
    for await (const near of listener) {
      const far = await Deno.connect({ hostname: "127.0.0.1", port });
      ends.push(near, far);
      near.readable.pipeTo(far.writable, { preventClose: true }).catch(() => undefined);
      far.readable.pipeTo(near.writable).catch(() => undefined);
    }
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    [Symbol.dispose]() {
      listener.close();
      for (const end of ends) {
        try {
          end.close();
        } catch {
          // Closed already, with its stream.
        }
      }
    },
  };
}

Deno.test("the ghost of a killed holder keeps the seat from nobody", async () => {
  await using office = await WindowOffice.open();
  using wire = openGhostlyWire(office.server.port);
  office.url = wire.url;
  await using stack = new AsyncDisposableStack();
  const [holder, guest] = await openTwo(office, stack);
  holder.signal("SIGKILL");
  await holder.ended;
  // The Server still has its connection.
  assertEquals(await office.seated(), ["ada"]);
  assertEquals((await guest.call("echo", { n: 1 })).isError, false);
  guest.signal("SIGKILL");
  await guest.ended;
  await using late = await office.client("Codex");
  assertEquals((await late.call("echo", { n: 2 })).isError, false);
});

Deno.test("windows keep their own options", async () => {
  await using office = await WindowOffice.open();
  await using all = await office.client("Claude");
  await using search = await office.client("Cursor", ["--tools", "search"]);
  await using none = await office.client("Codex", ["--computer", "other"]);
  const namesOf = async (client: ClientWindow) => {
    const { result } = await client.request("tools/list");
    const tools = Array.isArray(result?.["tools"]) ? result["tools"] : [];
    return tools.map(({ name }) => String(name));
  };
  const [listed, found, other] = await Promise.all([all, search, none].map(namesOf));
  assertEquals([listed?.includes("echo"), listed?.includes("find_tools")], [true, false]);
  assertEquals([found?.includes("echo"), found?.includes("find_tools")], [false, true]);
  assertEquals(other?.includes("echo"), false);
});

// proves: question-no-answerer
Deno.test("a window without elicitation tells the Computer that it asks nobody, after another window could ask", async () => {
  await using office = await WindowOffice.open();
  const { answers, requests } = office.computer;
  const question = { state: "s1", expires_in_ms: 600_000, mode: "approval", message: "Run it?" };
  const meta = { a2c_input_required: JSON.stringify(question) };
  answers["client:open_input"] = ({ modes, req_id }) => ({ modes, req_id });
  answers["client:tool_call"] = () => ({ content: [], isError: true, meta });
  answers["client:answer_input"] = () => textResult("decided at the Computer");
  await using claude = await office.client();
  const { text } = await claude.call("echo");
  const sent = requests.findLast(({ event }) => event === "client:answer_input")?.body;
  assertEquals([text, sent?.["action"], sent?.["asked"]], ["decided at the Computer", "cancel", false]);
});

Deno.test("commands use the seat of a client, and share one among themselves", async () => {
  await using office = await WindowOffice.open();
  const run = (...words: string[]) =>
    runDoor("agent.ts", [...office.connection("bea"), ...words], { env: office.env });
  // Nobody holds it: the commands share it among themselves, although each takes its time.
  const held = startDoor("agent.ts", [...office.connection(), "call", "hold"], { env: office.env });
  await using _held = held;
  await eventually(() => office.ran("hold").length, (count) => count === 1, "the call at the Computer");
  const [one, other] = await Promise.all([run("call", "echo", "n=1"), run("call", "echo", "n=2")]);
  assertEquals([one.code, one.stderr, other.code, other.stderr], [0, "", 0, ""]);
  office.release();
  assertEquals((await held.end()).code, 0);

  await using client = await office.client();
  assertEquals((await client.call("echo")).isError, false);
  const beside = await run("call", "echo", "n=3");
  assertEquals([beside.code, beside.stderr], [0, ""]);
  const desktop = await run("desktop");
  assertEquals([desktop.code, desktop.stdout.includes("hello")], [0, true]);
  assertEquals(await office.seated(), ["ada"]);
});

// Windows has no modes, and a program that is ended there has no time to remove its files.
Deno.test("the folder and its sockets are private, and nothing stays after the last program", {
  ignore: isWindows,
}, async () => {
  await using office = await WindowOffice.open();
  const folder = join(office.folder, "a2c-smcp", "seats");
  {
    await using stack = new AsyncDisposableStack();
    await openTwo(office, stack);
    const modeOf = (path: string) => ((Deno.lstatSync(path).mode ?? 0) & 0o777).toString(8);
    const files = [...Deno.readDirSync(folder)].map(({ name }) => [
      name.replace(/^[0-9a-f]+(-[0-9a-f]+)?/, "KEY"),
      modeOf(join(folder, name)),
    ]).sort();
    assertEquals([modeOf(folder), files], ["700", [["KEY.json", "600"], ["KEY.sock", "600"]]]);
  }
  assertEquals([...Deno.readDirSync(folder)], []);
});

Deno.test("another office, another Server and other credentials have seats of their own", async () => {
  await using office = await WindowOffice.open();
  await using client = await office.client();
  assertEquals((await client.call("echo")).isError, false);
  const words = [...office.connection("bea"), "--token", "other", "call", "echo", "--patience", "1s"];
  const { code, stderr } = await runDoor("agent.ts", words, { env: office.env });
  assertEquals(code, 6);
  assertMatch(stderr, /Room already has an agent/);
});

Deno.test("where the files of the seat cannot be used, a program says so and connects by itself", async () => {
  await using office = await WindowOffice.open();
  await Deno.mkdir(join(office.folder, "a2c-smcp"));
  await Deno.writeTextFile(join(office.folder, "a2c-smcp", "seats"), "no folder");
  const args = [...office.connection(), "--log-level", "warn", "call", "echo", "n=1"];
  const { code, stderr } = await runDoor("agent.ts", args, { env: office.env });
  assertEquals(code, 0);
  assertMatch(stderr, /the seat is not shared with other programs.*it is not a folder/);
});

Deno.test("without the permission for a socket, a program connects by itself", async () => {
  await using office = await WindowOffice.open();
  const permissions = ["--allow-net=127.0.0.1", "--allow-env", "--allow-read", "--allow-write"];
  const args = [...office.connection(), "call", "echo", "n=1"];
  const { code, stderr } = await runDoor("agent.ts", args, { env: office.env, permissions });
  assertEquals([code, stderr], [0, ""]);
});
