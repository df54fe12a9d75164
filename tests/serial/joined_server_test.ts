import { assert, assertEquals, assertRejects } from "@std/assert";
import { createComputerProgram } from "../../src/cli/computer/main.ts";
import { planService } from "../../src/cli/computer/service/plan.ts";
import { UsageError } from "../../src/cli/outcome.ts";
import { JoinedServer } from "../../src/cli/machine/joined_server.ts";
import { JoiningServer } from "../fixtures/joining_server.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { isWindows } from "../fixtures/system.ts";

const { signal } = new AbortController();
const STATE = "XDG_STATE_HOME";

/** A Server that this machine has joined; its state is in a folder of the test. */
async function open() {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(new TempFolder());
  const before = Deno.env.get(STATE);
  Deno.env.set(STATE, folder.path);
  stack.defer(() => before === undefined ? Deno.env.delete(STATE) : Deno.env.set(STATE, before));
  const server = stack.use(await JoiningServer.open());
  const joined = await JoinedServer.begin(server.url);
  const approved = { name: "laptop", offices: ["lab"], roles: ["computer"] } as const;
  await server.machines.add({ key: joined.publicKey, ...approved, audience: server.url, system: "test" });
  const [{ id = "" } = {}] = server.machines.list();
  await joined.keep({ machine: { id, ...approved } });
  return { server, joined, id, folder: `${folder.path}/a2c-smcp`, stack: stack.move() };
}

Deno.test("a Server that was joined is found by its URL, with a fresh proof each time, for it alone", async () => {
  const { server, stack } = await open();
  await using _ = stack;
  assertEquals(await JoinedServer.find("http://127.0.0.1:1"), undefined);
  const found = await JoinedServer.find(`${server.url}/`);
  assert(found !== undefined);
  for (const url of [undefined, server.url]) {
    const { auth = {} } = await found.source({ signal, url });
    assertEquals(Object.keys(auth), ["proof"]);
    assert("principal" in await server.machines.authenticate({ auth }));
  }
  // Another Server could use a proof here.
  assertEquals(await found.source({ signal, url: "https://evil.example" }), {});
});

Deno.test("a machine whose clock is wrong proves its key by the clock of the Server", async () => {
  const { server, joined, stack } = await open();
  await using _ = stack;
  server.aheadMs = 3_600_000;
  await joined.refresh(signal);
  const { auth = {} } = await joined.source({ signal });
  assert("principal" in await server.machines.authenticate({ auth }));
});

Deno.test("the key is kept for its owner alone, over joins; a damaged file is made anew", async () => {
  const { joined, server, folder, stack } = await open();
  await using _ = stack;
  assertEquals((await JoinedServer.begin(server.url)).publicKey, joined.publicKey);
  const [file] = [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`);
  assert(file !== undefined);
  if (!isWindows) assertEquals((Deno.statSync(file).mode ?? 0) & 0o777, 0o600);
  Deno.writeTextFileSync(file, "{");
  assertEquals(await JoinedServer.find(server.url), undefined);
  assert((await JoinedServer.begin(server.url)).publicKey.x !== joined.publicKey.x);
});

Deno.test("a service of a joined machine has neither its name nor its office, which the Server says at each start", async () => {
  const { server, joined, id, stack } = await open();
  await using _ = stack;
  const args = ["service", "install"];
  const behind = ["--url", server.url, "--config", "mcp.json"];
  const plan = async () =>
    await planService(createComputerProgram(new AbortController().signal, args), { args, behind });
  const { name, words } = await plan();
  assertEquals([name, words], ["laptop", ["--headless", ...behind]]);
  await joined.keep({ service: "laptop" });
  await server.machines.change(id, { name: "desk" });
  const again = await plan();
  assertEquals([again.name, again.joined?.service], ["desk", "laptop"]);
  assertEquals((await JoinedServer.ofService("laptop"))?.machine?.name, "desk");
  assertEquals(await JoinedServer.ofService("desk"), undefined);
});

Deno.test("a start takes the office that the operator named first; one that lacks it says why", async () => {
  const { server, id, stack } = await open();
  await using _ = stack;
  const plan = async (url: string, ...more: readonly string[]) => {
    const args = ["service", "install"];
    const program = createComputerProgram(new AbortController().signal, args);
    await planService(program, { args, behind: ["--url", url, "--config", "mcp.json", ...more] });
    return program.opts()["office"];
  };
  await server.machines.change(id, { offices: ["den", "attic"] });
  assertEquals(await plan(server.url), "den");
  await assertRejects(() => plan(server.url, "--token", "s3cret"), UsageError, "A2C_TOKEN) is used in place");
  await assertRejects(() => plan("http://127.0.0.1:1"), UsageError, `it has joined ${server.url}`);
});
