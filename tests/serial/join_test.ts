import { assertRejects } from "@std/assert";
import { joinByCode } from "../../src/cli/machine/join.ts";
import { CommandFailedError } from "../../src/cli/outcome.ts";
import { ServerUnreachableError } from "../../src/link/errors.ts";
import { JoiningServer } from "../fixtures/joining_server.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { eventually } from "../fixtures/within.ts";

const STATE = "XDG_STATE_HOME";

/** Joins with a state folder of the test. */
async function join(url: string): Promise<void> {
  using folder = new TempFolder();
  const before = Deno.env.get(STATE);
  Deno.env.set(STATE, folder.path);
  try {
    await joinByCode(url, { name: "laptop", json: true, signal: new AbortController().signal });
  } finally {
    before === undefined ? Deno.env.delete(STATE) : Deno.env.set(STATE, before);
  }
}

Deno.test("a join ends when its code is too old, and says that nobody has approved it", async () => {
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, ({ url }) => {
    const started = { handle: "h", code: "AAAA-AAAA", link: url, expires_in: 1.5, interval: 1 };
    return url.endsWith("/machines/join")
      ? Response.json(started)
      : Response.json({ error: "Unauthorized: no such machine" }, { status: 401 });
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  await assertRejects(() => join(url), CommandFailedError, "approved the code in time");
});

Deno.test("a join ends when the Server has forgotten the code, and says so", async () => {
  await using server = await JoiningServer.open();
  const joining = assertRejects(() => join(server.url), CommandFailedError, "forgotten the code");
  await eventually(() => server.joins.waiting, ({ length }) => length === 1, "a machine that waits");
  for (const waiting of server.joins.waiting) server.joins.withdraw(waiting);
  await joining;
});

Deno.test("a join over http:// at a port of TLS says so, as a Server that cannot be reached", async () => {
  const text = "The plain HTTP request was sent to HTTPS port";
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => new Response(text, { status: 400 }),
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  await assertRejects(() => join(url), ServerUnreachableError, "use https://");
});

Deno.test("a join says why it cannot reach the Server, and what to do, as a connection does", async () => {
  await using server = await JoiningServer.open();
  const url = server.url.replace("http:", "https:");
  await assertRejects(() => join(url), ServerUnreachableError, "use http://");
});
