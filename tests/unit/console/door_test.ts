import { assert, assertEquals } from "@std/assert";
import { silentLogger } from "../../../src/log.ts";
import type { CommandOutcome, OfferedCommand } from "../../../src/console/api.ts";
import { ConsoleDoor } from "../../../src/console/door.ts";
import type { RunOffered } from "../../../src/console/site.ts";
import { EventFeed } from "../../../src/console/feed.ts";
import { within } from "../../fixtures/within.ts";
import { ConsoleClient } from "../../integration/_console.ts";

function command(name: string, isReading: boolean): [string, OfferedCommand] {
  const methods = isReading ? ["GET", "POST"] as const : ["POST"] as const;
  return [`/api/${name}`, {
    command: name,
    about: "",
    path: `/api/${name}`,
    methods,
    arguments: [],
    options: [],
  }];
}

const OK: CommandOutcome = { output: "{}", error: "", exitCode: 0 };

/** A console with the commands `look`, which only reads, and `act`. */
async function open(run: RunOffered) {
  const feed = new EventFeed();
  const door = await ConsoleDoor.open({
    page: "owner",
    commands: new Map([command("look", true), command("act", false)]),
    run,
    feed,
    logger: silentLogger,
  });
  return {
    door,
    client: new ConsoleClient(door.link),
    async [Symbol.asyncDispose]() {
      feed.close();
      await door.close();
    },
  };
}

Deno.test("GET runs a command that only reads, and no other one", async () => {
  const ran: string[] = [];
  await using opened = await open((words) => {
    ran.push(words.join(" "));
    return Promise.resolve(OK);
  });
  const { client } = opened;
  assertEquals((await client.get("/api/look?argument=x")).status, 200);
  assertEquals((await client.get("/api/act")).status, 405);
  assertEquals((await client.get("/api/nothing")).status, 404);
  assertEquals((await client.post("/api/act")).status, 200);
  assertEquals(ran, ["look -- x", "act --"]);
});

Deno.test("GET /api tells how each command is asked", async () => {
  await using opened = await open(() => Promise.resolve(OK));
  const { body } = await opened.client.get("/api");
  assertEquals(
    body.map((each: Record<string, unknown>) => [each["command"], each["path"], each["methods"]]),
    [
      ["look", "/api/look", ["GET", "POST"]],
      ["act", "/api/act", ["POST"]],
    ],
  );
});

Deno.test("a body that is too long, too deep or no JSON runs nothing", async () => {
  await using opened = await open(() => {
    throw new TypeError("It ran");
  });
  const { client } = opened;
  const send = async (body: string) => {
    const headers = { ...client.authorization, "content-type": "application/json" };
    const response = await fetch(`${client.origin}/api/act`, { method: "POST", headers, body });
    const { error } = await response.json();
    assertEquals(typeof error, "string");
    return response.status;
  };
  assertEquals(await send(JSON.stringify({ arguments: ["x".repeat(1024 * 1024)] })), 413);
  assertEquals(await send(`{"arguments":${"[".repeat(10_000)}${"]".repeat(10_000)}}`), 400);
  for (const body of ["", "{", "null", '"x"', '{"__proto__":{"arguments":[]}}']) {
    assertEquals(await send(body), 400, body);
  }
});

Deno.test("a command is ended when its client goes, and when the console is closed", async () => {
  const ended: Promise<unknown>[] = [];
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using opened = await open((_words, { signal }) => {
    const { promise, resolve } = Promise.withResolvers<CommandOutcome>();
    signal.addEventListener("abort", () => resolve({ output: "", error: "", exitCode: 130 }));
    ended.push(promise);
    begun[ended.length - 1]?.resolve();
    return promise;
  });
  const { client, door } = opened;
  const leaving = new AbortController();
  const headers = { ...client.authorization, "content-type": "application/json" };
  const ask = (signal?: AbortSignal) =>
    fetch(`${client.origin}/api/act`, { method: "POST", headers, body: "{}", signal: signal ?? null })
      .then((response) => response.body?.cancel(), () => {});
  const first = ask(leaving.signal);
  await within(begun[0]?.promise ?? Promise.reject(), "the first command");
  leaving.abort();
  await within(ended[0] ?? Promise.reject(), "the end of the first command");
  const second = ask();
  await within(begun[1]?.promise ?? Promise.reject(), "the second command");
  await door.close();
  await within(ended[1] ?? Promise.reject(), "the end of the second command");
  await Promise.all([first, second]);
});

Deno.test("a stream of events begins before anything happens, and one too many is refused", async () => {
  await using opened = await open(() => Promise.resolve(OK));
  const { client } = opened;
  await using stack = new AsyncDisposableStack();
  for (let n = 0; n < 32; n++) stack.use(await client.follow());
  const { status } = await client.get("/api/events");
  assertEquals(status, 503);
});

Deno.test("every answer says that nothing else may be loaded, shown around it, or kept", async () => {
  await using opened = await open(() => Promise.resolve(OK));
  const { client } = opened;
  for (const path of ["/", "/owner.js", "/nothing", "/api", "/api/look", "/api/nothing"]) {
    for (const headers of [client.authorization, {}]) {
      const response = await fetch(`${client.origin}${path}`, { headers });
      await response.body?.cancel();
      const policy = response.headers.get("content-security-policy") ?? "";
      for (
        const part of [
          "default-src 'none'",
          "frame-ancestors 'none'",
          "base-uri 'none'",
          "form-action 'none'",
        ]
      ) {
        assert(policy.includes(part), `${path}: ${policy}`);
      }
      assert(!policy.includes("unsafe"), policy);
      const names = [
        "x-content-type-options",
        "referrer-policy",
        "cross-origin-opener-policy",
        "cache-control",
      ];
      assertEquals(names.map((name) => response.headers.get(name)), [
        ...["nosniff", "no-referrer", "same-origin", "no-store"],
      ]);
    }
  }
});

Deno.test("the door proves that it knows its token, and signs nothing but a UUID", async () => {
  await using opened = await open(() => Promise.resolve(OK));
  const { door } = opened;
  const ask = (nonce: string) => fetch(`http://127.0.0.1:${door.port}/proof?nonce=${nonce}`);
  const nonce = crypto.randomUUID();
  const response = await ask(nonce);
  assertEquals(response.status, 200);
  const bytes = (text: string) => new TextEncoder().encode(text);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey(
    "raw",
    bytes(new URL(door.link).hash.slice(1)),
    algorithm,
    false,
    ["verify"],
  );
  const proof = await response.arrayBuffer();
  assert(await crypto.subtle.verify("HMAC", key, proof, bytes(`a2c-smcp console ${nonce}`)));
  const refused = await ask("anything");
  assertEquals(refused.status, 400);
  await refused.body?.cancel();
});

Deno.test("a refusal of the door names no option, since it has none", async () => {
  await using opened = await open(() => Promise.resolve(OK));
  const headers = { origin: "https://evil.example" };
  const response = await fetch(`http://127.0.0.1:${opened.door.port}/`, { headers });
  assertEquals([response.status, await response.json()], [403, { error: "Origin not allowed" }]);
});
