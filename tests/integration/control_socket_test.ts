// The socket on which a Computer is asked by other processes, and processes that do not behave.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import type { ControlAnswer, ControlReply } from "../../src/cli/control/message.ts";
import { LineChannel } from "../../src/cli/line_channel.ts";
import { connectLocally, listenLocally } from "../../src/cli/local_socket.ts";
import { isListening } from "../../src/cli/socket_folder.ts";
import { ControlServer, type RunWords } from "../../src/cli/control/server.ts";
import { silentLogger } from "../../src/log.ts";
import { PACKAGE_VERSION } from "../../src/version.ts";
import { isWindows } from "../fixtures/system.ts";
import { within } from "../fixtures/within.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

/** A test with a Computer that does what `run` says, listening at `path`. */
function test(
  name: string,
  run: RunWords,
  work: (control: { path: string; server: ControlServer }) => Promise<void>,
): void {
  Deno.test(name, async () => {
    using folder = new TempFolder();
    const path = join(folder.path, "laptop.sock");
    {
      await using server = await ControlServer.open(path, { run, log: silentLogger });
      await work({ path, server });
    }
  });
}

async function connect(path: string, request?: unknown): Promise<LineChannel> {
  const channel = new LineChannel(await connectLocally(path));
  if (request !== undefined) await channel.send(request as object);
  return channel;
}

async function replies(channel: LineChannel): Promise<ControlReply[]> {
  const heard: ControlReply[] = [];
  await channel.receive((message) => void heard.push(message as unknown as ControlReply));
  return heard;
}

const ask = async (path: string, ...words: string[]) =>
  await replies(await connect(path, { version: PACKAGE_VERSION, words, json: false }));

const said = (output: string): ControlAnswer => ({ output, error: "", exitCode: 0 });

test(
  "a command runs with its words and options, and its progress comes before its answer",
  (words, { json, screen, progress }) => {
    progress("thinking");
    return Promise.resolve(said(JSON.stringify({ words, json, columns: screen?.columns })));
  },
  async ({ path }) => {
    const request = { version: PACKAGE_VERSION, words: ["call", "a b"], json: true, columns: 40 };
    assertEquals(await replies(await connect(path, request)), [
      { progress: "thinking" },
      said('{"words":["call","a b"],"json":true,"columns":40}'),
    ]);
  },
);

const LARGE = "数".repeat(8 * 1024 * 1024);

test(
  "the user of a command, as it says itself, is one line of a limited length",
  (_words, { actor }) => Promise.resolve(said(actor.by ?? "")),
  async ({ path }) => {
    const request = {
      version: PACKAGE_VERSION,
      words: ["list"],
      json: false,
      user: `ada\n${"a".repeat(2_000)}`,
    };
    assertEquals(await replies(await connect(path, request)), [said(`ada ${"a".repeat(996)}…`)]);
  },
);

test("an answer of many megabytes arrives whole", () => Promise.resolve(said(LARGE)), async ({ path }) => {
  const [answer] = await ask(path, "call");
  assertEquals(answer !== undefined && "output" in answer && answer.output === LARGE, true);
});

test(
  "a process that reads nothing delays neither other processes nor the shutdown",
  ([word]) => Promise.resolve(said(word === "large" ? LARGE : "small")),
  async ({ path, server }) => {
    const deaf = await connect(path, { version: PACKAGE_VERSION, words: ["large"], json: false });
    assertEquals(await ask(path, "status"), [said("small")]);
    await server.close();
    deaf.close();
    assertEquals(await isListening(path), false);
  },
);

{
  const MIB = "x".repeat(1024 * 1024);
  const printed = Promise.withResolvers<number>();
  test("a process that reads nothing of what its command prints loses it", async (_, { person, signal }) => {
    let count = 0;
    while (!signal.aborted && count < 32) {
      person.print(MIB);
      count++;
      await new Promise((resolve) => setTimeout(resolve));
    }
    printed.resolve(count);
    return said("");
  }, async ({ path }) => {
    const deaf = await connect(path, { version: PACKAGE_VERSION, words: ["events"], json: false });
    const count = await within(printed.promise, "the end of the command");
    assert(count < 32, "a command printed on while nobody read");
    deaf.close();
  });
}

Deno.test("a channel is closed when a message is not read in time", async () => {
  using folder = new TempFolder();
  const path = join(folder.path, "deaf.sock");
  const listener = await listenLocally(path);
  const accepted = listener[Symbol.asyncIterator]().next();
  const bounds = { maxLineBytes: 1, maxWaitingBytes: Infinity, readTimeoutMs: 100 };
  const channel = new LineChannel(await connectLocally(path), bounds);
  const { value: deaf } = await accepted;
  // The pipe of a system may take one message of any size at once.
  const sent = Promise.all([channel.send({ LARGE }), channel.send({ LARGE })]);
  assertEquals((await within(sent, "the end of the channel")).at(-1), false);
  assertEquals(channel.isClosed, true);
  deaf.close();
  listener.close();
});

test("a request of more than a MiB is disconnected", () => Promise.resolve(said("")), async ({ path }) => {
  assertEquals(await ask(path, LARGE), []);
});

{
  const running = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  test("a process that disconnects cancels its command", async (_words, { signal }) => {
    signal.addEventListener("abort", () => aborted.resolve());
    running.resolve();
    await aborted.promise;
    return said("");
  }, async ({ path }) => {
    const connection = await connect(path, { version: PACKAGE_VERSION, words: ["call"], json: false });
    await within(running.promise, "the command");
    connection.close();
    await within(aborted.promise, "the end of the command");
  });
}

test(
  "a command prints while it runs, asks, and gets the answer; a question may be withdrawn",
  async (_words, { person, signal }) => {
    person.print("hello");
    const { signal: withdrawn } = new AbortController();
    const name = await person.ask({ text: "name: ", signal: AbortSignal.any([signal, withdrawn]) });
    const second = new AbortController();
    const unanswered = person.ask({ text: "age: ", signal: second.signal });
    second.abort();
    return said(JSON.stringify([name, await unanswered, await person.open("https://x.example/")]));
  },
  async ({ path }) => {
    const connection = await connect(path, { version: PACKAGE_VERSION, words: ["auth"], json: false });
    const heard: unknown[] = [];
    await connection.receive((message) => {
      heard.push(message);
      const reply = message as unknown as ControlReply;
      if (!("question" in reply)) return;
      const { id, question } = reply;
      if ("line" in question && question.line !== "name: ") return;
      void connection.send({ id, answer: "line" in question ? "Ada" : null });
    });
    assertEquals(heard, [
      { print: "hello" },
      { question: { line: "name: " }, id: 1 },
      { question: { line: "age: " }, id: 2 },
      { withdrawn: 2 },
      { question: { page: "https://x.example/" }, id: 3 },
      said('["Ada",null,false]'),
    ]);
  },
);

{
  const aborted = Promise.withResolvers<void>();
  test("a line that answers no question cancels the command", async (_words, { person, signal }) => {
    signal.addEventListener("abort", () => aborted.resolve());
    const line = await person.ask({ text: "name: ", signal });
    await aborted.promise;
    return said(String(line));
  }, async ({ path }) => {
    const connection = await connect(path, { version: PACKAGE_VERSION, words: ["auth"], json: false });
    await connection.send({ id: 7, answer: "x" });
    await within(aborted.promise, "the command to be aborted");
    connection.close();
  });
}

test(
  "an invalid request is disconnected, and another version gets an error",
  () => Promise.resolve(said("")),
  async ({ path }) => {
    for (const nonsense of ["hello", {}, { words: "status" }, null]) {
      assertEquals(await replies(await connect(path, nonsense)), []);
    }
    const [answer] = await replies(await connect(path, { version: "0.0.1", words: ["status"] }));
    assert(answer !== undefined && "error" in answer);
    assertEquals(answer.exitCode, 1);
    assertStringIncludes(answer.error, "version 0.0.1");
  },
);

{
  let atOnce = 0;
  let most = 0;
  test("at most 64 commands run at a time, and further ones wait", async () => {
    most = Math.max(most, ++atOnce);
    await new Promise<void>((resolve) => queueMicrotask(resolve));
    atOnce--;
    return said("done");
  }, async ({ path }) => {
    const all = await Promise.all(Array.from({ length: 200 }, () => ask(path, "status")));
    assertEquals(all.filter(([answer]) => answer !== undefined && "output" in answer).length, 200);
    assertEquals(most <= 64, true, `${most} at once`);
  });
}

{
  const running = Promise.withResolvers<void>();
  test(
    "a Computer that shuts down aborts the command, whose answer still arrives",
    (_words, { signal }) => {
      running.resolve();
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve(said("aborted"))));
    },
    async ({ path, server }) => {
      const answer = ask(path, "call");
      await within(running.promise, "the command to run");
      await within(server.close(), "the shutdown");
      assertEquals(await within(answer, "the answer"), [said("aborted")]);
    },
  );
}

test(
  "processes that send no request delay a command for a moment, and are then disconnected",
  () => Promise.resolve(said("done")),
  async ({ path }) => {
    const silent = await Promise.all(Array.from({ length: 70 }, () => connect(path)));
    const startedAt = performance.now();
    assertEquals(await within(ask(path, "status"), "the answer"), [said("done")]);
    assert(performance.now() - startedAt < 9_500, "the command waited long for silent processes");
    for (const connection of silent) connection.close();
  },
);

test(
  "a socket in use is not replaced, and the socket of a killed Computer is",
  () => Promise.resolve(said("first")),
  async ({ path, server }) => {
    const options = { run: () => Promise.resolve(said("second")), log: silentLogger };
    await assertRejects(() => ControlServer.open(path, options), TypeError, "runs already");
    assertEquals(await ask(path, "status"), [said("first")]);
    if (!isWindows) assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    await server.close();
    if (isWindows) await Deno.writeTextFile(path, '{"name":"\\\\\\\\.\\\\pipe\\\\killed","token":"x"}');
    else Deno.listen({ transport: "unix", path }).close();
    await using _second = await ControlServer.open(path, options);
    assertEquals(await ask(path, "status"), [said("second")]);
  },
);
