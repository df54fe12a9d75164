/** Folders of documents as a program over HTTP, with the official clients of both eras. */
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { doorWords, runDoor } from "../../../../tests/fixtures/door.ts";
import { connectV1, connectV2, HttpDoor } from "../../../../tests/fixtures/http_door.ts";
import { eventually, within } from "../../../../tests/fixtures/within.ts";
import { TestFolder } from "./_folder_documents.ts";

interface Catalogue {
  readonly documents: readonly { readonly uri: string; readonly page_count: number }[];
}

/** A client of either era, as far as these tests use it. */
interface Reader {
  readResource(request: { uri: string }): Promise<{ contents: readonly object[] }>;
}

/** Serves a folder with the permissions that the documentation names. */
function serve(folder: TestFolder, args: readonly string[] = ["--no-token"]): Promise<HttpDoor> {
  const permissions = ["--ignore-env", `--allow-read=${folder.path}`, "--allow-run", "--allow-net=127.0.0.1"];
  const words = [folder.path, "--host", "local.documents", "--http", "0", ...args];
  return HttpDoor.start(doorWords("packages/documents/main.ts", words, permissions));
}

async function read<T>(client: Reader, uri: string): Promise<T> {
  const { contents: [content] } = await client.readResource({ uri });
  return JSON.parse(content !== undefined && "text" in content ? String(content.text) : "");
}

/** The URI of the only document, when its file has been read. */
async function untilRead(client: Reader): Promise<string> {
  const { documents: [document] } = await eventually(
    () => read<Catalogue>(client, "dpe://local.documents"),
    ({ documents }) => documents.every(({ page_count }) => page_count > 0),
    "the file to be read",
  );
  return document?.uri ?? "";
}

Deno.test("serves documents to clients of both eras, and tells them of edits", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A\n\nfirst\n" });
  await using program = await serve(folder);
  const told = Promise.withResolvers<string>();
  const first = new ClientV1({ name: "v1", version: "1" });
  first.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }: { params: { uri: string } }) => told.resolve(params.uri),
  );
  await using _first = await connectV1(program.url, { client: first });
  const toldModern = Promise.withResolvers<string>();
  const modern = new ClientV2({ name: "v2", version: "1" }, { versionNegotiation: { mode: "auto" } });
  modern.setNotificationHandler(
    "notifications/resources/updated",
    ({ params }) => toldModern.resolve(params.uri),
  );
  await using _modern = await connectV2(program.url, modern);
  assertEquals(modern.getNegotiatedProtocolVersion(), "2026-07-28");

  const uri = await untilRead(first);
  assertEquals(await untilRead(modern), uri);
  await first.subscribeResource({ uri });
  await modern.listen({ resourceSubscriptions: [uri] });
  await folder.write("a.md", "# A\n\nsecond\n");
  assertEquals(await within(told.promise, "the client of 2025 to be told"), uri);
  assertEquals(await within(toldModern.promise, "the client of 2026 to be told"), uri);
  const page = await eventually(
    () => read<{ elements: { content: { text?: string } }[] }>(modern, `${uri}/pages/0`),
    ({ elements }) => elements.some(({ content }) => content.text === "second"),
    "the page of the edited file",
  );
  assertEquals(page.elements.map(({ content }) => content.text), ["A", "second"]);
});

Deno.test("ends with success when it is told to, also while a client listens", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A" });
  await using program = await serve(folder);
  await using modern = await connectV2(program.url);
  await modern.listen({ resourcesListChanged: true });
  program.program.kill("SIGTERM");
  assertEquals((await program.program.end()).code, 0);
});

Deno.test("ends with success when it is told to, also while a client never ends its request", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A" });
  await using program = await serve(folder);
  using client = await Deno.connect({ hostname: "127.0.0.1", port: Number(program.url.port) });
  const head = `POST /mcp HTTP/1.1\r\nHost: ${program.url.host}\r\nContent-Type: application/json\r\n`;
  await client.write(new TextEncoder().encode(`${head}Expect: 100-continue\r\nContent-Length: 9\r\n\r\n`));
  // It reads the body now.
  await within(client.read(new Uint8Array(100)), "the program to ask for the body");
  program.program.kill("SIGTERM");
  assertEquals((await program.program.end()).code, 0);
});

Deno.test("serves other machines with a token alone", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A" });
  const { code, stderr } = await runDoor("packages/documents/main.ts", [
    folder.path,
    "--http",
    "0.0.0.0:0",
    "--no-token",
  ]);
  assertEquals(code, 2);
  assertMatch(stderr, /with --no-token: other machines could use the documents/);
  await using program = await serve(folder, ["--http-token", "s3cret"]);
  await assertRejects(() => connectV1(program.url), Error, "it has no bearer token");
  await using client = await connectV1(program.url, { headers: { authorization: "Bearer s3cret" } });
  await untilRead(client);
});

Deno.test("makes a token where none is given, for this user alone, and keeps it", async () => {
  await using folder = await TestFolder.make({ "docs/a.md": "# A" });
  await using state = await TestFolder.make();
  const words = doorWords("packages/documents/main.ts", [`${folder.path}/docs`, "--http", "0"]);
  const start = () => HttpDoor.start(words, { XDG_STATE_HOME: state.path });
  const file = `${state.path}/a2c-smcp/documents.token`;
  let authorization = "";
  {
    await using program = await start();
    assertMatch(program.program.stderr.text, /clients need the token of this file.*documents\.token/);
    const token = (await Deno.readTextFile(file)).trim();
    authorization = `Bearer ${token}`;
    assertEquals([token.length, program.program.stderr.text.includes(token)], [43, false]);
    if (Deno.build.os !== "windows") assertEquals(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
    await assertRejects(() => connectV1(program.url), Error, "it has no bearer token");
    await using _ = await connectV1(program.url, { headers: { authorization } });
  }
  await using again = await start();
  await using _ = await connectV1(again.url, { headers: { authorization } });
});

/** What a kept token may be, and what is said of it. */
const FLAWED_FILES: Readonly<Record<string, readonly [content: string, mode: number, wanted: RegExp]>> = {
  "one that others can read": ["t0ken\n", 0o644, /others can read or write it/],
  "one that others can write": ["t0ken\n", 0o622, /others can read or write it/],
  "an empty one": ["\n", 0o600, /it is empty/],
  "one with more than a token": ["a b\n", 0o600, /more than a token/],
};

for (const [name, [content, mode, wanted]] of Object.entries(FLAWED_FILES)) {
  Deno.test(`does not serve with a file of its token that is flawed: ${name}`, async () => {
    await using state = await TestFolder.make({ "a2c-smcp/documents.token": content, "docs/a.md": "# A" });
    await Deno.chmod(`${state.path}/a2c-smcp/documents.token`, mode);
    const { code, stderr } = await runDoor("packages/documents/main.ts", [
      `${state.path}/docs`,
      "--http",
      "0",
    ], {
      env: { XDG_STATE_HOME: state.path },
    });
    assertEquals(code, 2);
    assertMatch(stderr, wanted);
  });
}

Deno.test("refuses a port in use, options without --http, and a token file of another user", async () => {
  await using folder = await TestFolder.make({ "docs/a.md": "# A", "token": "t0ken\n" });
  const token = ["--http-token-file", `${folder.path}/token`];
  await using busy = await serve(folder);
  const http = ["--http", busy.url.port];
  const documents = (...words: string[]) =>
    runDoor("packages/documents/main.ts", [`${folder.path}/docs`, ...words]);
  const cases: [ReturnType<typeof documents>, number, RegExp][] = [
    [documents(...http, "--no-token"), 1, /port is in use; choose another --http/],
    [documents(...token), 2, /Cannot use --http-token-file without --http/],
    [documents("--no-token"), 2, /Cannot use --no-token without --http/],
    [runDoor("agent.ts", ["mcp", ...token]), 2, /Cannot use --http-token-file without --http/],
  ];
  for (const [run, wantedCode, wanted] of cases) {
    const { code, stderr } = await run;
    assertEquals(code, wantedCode, stderr);
    assertMatch(stderr, wanted);
  }
  if (Deno.build.os === "windows" || Deno.uid() !== 0) return;
  await Deno.chown(`${folder.path}/token`, 12_345, null);
  const { code, stderr } = await documents("--http", "0", ...token);
  assertEquals(code, 2);
  assertMatch(stderr, /it belongs to another user/);
});

Deno.test("takes the token of a file that is named, and says without one who can do without", async () => {
  await using folder = await TestFolder.make({ "docs/a.md": "# A", "token": "t0ken\n" });
  const words = (...args: string[]) =>
    doorWords("packages/documents/main.ts", [`${folder.path}/docs`, "--http", "0", ...args]);
  {
    await using named = await HttpDoor.start(words("--http-token-file", `${folder.path}/token`));
    await using _ = await connectV1(named.url, { headers: { authorization: "Bearer t0ken" } });
    await assertRejects(() => connectV1(named.url));
    if (Deno.build.os !== "windows") {
      assertMatch(named.program.stderr.text, /WARN .*others can read or write the token file/);
    }
  }
  await using open = await HttpDoor.start(words("--no-token"));
  await using _ = await connectV1(open.url);
  assertMatch(
    open.program.stderr.text,
    /WARN .*every user and program of this machine can use the documents/,
  );
});
