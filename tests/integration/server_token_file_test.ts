import { assert, assertEquals, assertMatch } from "@std/assert";
import { Agent, AuthenticationError } from "../../agent.ts";
import { SmcpServer, TokenFile } from "../../server.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { within } from "../fixtures/within.ts";
import { RawPeer } from "./_socket.ts";

/** A Server with a token file. */
class FileServer implements AsyncDisposable {
  readonly #path: string;
  readonly #tokens: TokenFile;
  readonly server: SmcpServer;
  readonly log: LogBook;

  private constructor(parts: { path: string; tokens: TokenFile; server: SmcpServer; log: LogBook }) {
    this.#path = parts.path;
    this.#tokens = parts.tokens;
    this.server = parts.server;
    this.log = parts.log;
  }

  static async open(text: string): Promise<FileServer> {
    const path = await Deno.makeTempFile();
    await Deno.writeTextFile(path, text);
    const log = new LogBook();
    const tokens = await TokenFile.open(path, { logger: log, checkIntervalMs: 5 });
    const server = await SmcpServer.listen({ port: 0, auth: tokens, metrics: true, logger: log });
    return new FileServer({ path, tokens, server, log });
  }

  /** Changes the file, and waits until it was read. */
  async write(text: string): Promise<void> {
    const read = this.log.next(({ message }) => /changed token file/.test(message));
    await Deno.writeTextFile(this.#path, text);
    await read;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
    await this.#tokens.close();
    await Deno.remove(this.#path);
  }
}

/** Whether a token is admitted now. */
async function isAdmitted({ server }: FileServer, token: string): Promise<boolean> {
  try {
    await using _peer = await RawPeer.connect(server.url, { auth: { token } });
    return true;
  } catch {
    return false;
  }
}

Deno.test("a token file in UTF-16 is read, as Windows PowerShell writes it", async () => {
  const path = await Deno.makeTempFile();
  const units = [..."\uFEFFs3cret name=pc offices=lab\r\n"].map((sign) => sign.charCodeAt(0));
  await Deno.writeFile(path, new Uint8Array(Uint16Array.from(units).buffer));
  await using tokens = await TokenFile.open(path);
  const decision = tokens.authenticate({
    auth: { token: "s3cret" },
    headers: {},
    query: {},
    address: "127.0.0.1",
  });
  assertEquals("principal" in decision && decision.principal, "pc");
});

Deno.test("a file whose tokens have all expired is told in the log, at the start and after a change", async () => {
  await using file = await FileServer.open("old expires=2020-01-01\n");
  const warnings = () => file.log.of("warn").filter(({ message }) => message.includes("expired")).length;
  assertEquals(warnings(), 1);
  await file.write("old expires=2020-01-01\nnew expires=2020-01-02\n");
  assertEquals(warnings(), 2);
  await file.write("old expires=2020-01-01\nnew\n");
  assertEquals(warnings(), 2);
});

const lab = { role: "agent", name: "ada", office_id: "lab" } as const;

Deno.test("a token is accepted as soon as it is in the file, and no longer than it is there", async () => {
  await using file = await FileServer.open("old\n");
  assertEquals([await isAdmitted(file, "old"), await isAdmitted(file, "new")], [true, false]);
  await file.write("old\nnew\n");
  assertEquals([await isAdmitted(file, "old"), await isAdmitted(file, "new")], [true, true]);
  await file.write("new\n");
  assertEquals([await isAdmitted(file, "old"), await isAdmitted(file, "new")], [false, true]);
});

Deno.test("a live session ends when its token is removed, with the reason, and another goes on", async () => {
  await using file = await FileServer.open("a name=ada\nb name=bob\n");
  await using ada = await RawPeer.join(file.server.url, lab, { auth: { token: "a" } });
  await using bob = await RawPeer.connect(file.server.url, { auth: { token: "b" } });
  const heard = ada.next("notify:connection_closing");
  await file.write("b name=bob\n");
  const message = 'The token of "ada" was removed';
  assertEquals(await heard, { code: "credentials_revoked", message, reconnect: false });
  await within(ada.disconnected, "the end of the connection");
  const [isJoined] = await bob.request("server:join_office", { ...lab, name: "bob" });
  assertEquals(isJoined, true);
});

Deno.test("an Agent whose token gets other offices comes back, and is refused where it may no longer be", async () => {
  await using file = await FileServer.open("a name=ada offices=lab,den\n");
  await using agent = await Agent.connect({ url: file.server.url, office: "lab", name: "ada", token: "a" });
  const returned = new Promise((resolve) => void agent.on("reconnected", resolve));
  await file.write("a name=ada offices=lab\n");
  await within(returned, "the return");
  const failed = new Promise<Error>((resolve) => void agent.on("failed", ({ error }) => resolve(error)));
  await file.write("a name=ada offices=den\n");
  const error = await within(failed, "the refusal");
  assert(!(error instanceof AuthenticationError), error.message);
  assert(error.message.includes("credentials do not allow the role"), error.message);
});

Deno.test("a token is changed without cutting a call: its line gets an end, and its member renews before that", async () => {
  await using file = await FileServer.open("old name=ada\nb name=laptop\n");
  const { url } = file.server;
  const seat = { role: "computer", name: "laptop", office_id: "lab" } as const;
  await using laptop = await RawPeer.join(url, seat, { auth: { token: "b" } });
  let token = "old";
  const renewed = file.log.next(({ message }) => message === "renewed the credentials");
  await using agent = await Agent.connect({
    url,
    office: "lab",
    name: "ada",
    credentials: () => Promise.resolve({ token }),
  });
  let isLost = false;
  agent.on("disconnected", () => void (isLost = true));
  const answer = Promise.withResolvers<unknown[]>();
  const asked = laptop.nextRequest("client:get_tools");
  laptop.serve("client:get_tools", () => answer.promise);
  const tools = agent.computer("laptop").getTools();
  await asked;
  token = "new";
  const soon = new Date(Date.now() + 8_000).toJSON();
  await file.write(`old name=ada expires=${soon}\nnew name=ada\nb name=laptop\n`);
  await renewed;
  await file.write("new name=ada\nb name=laptop\n");
  answer.resolve([{ tools: [], req_id: "r" }]);
  assertEquals(await tools, []);
  assertEquals(isLost, false);
});

Deno.test("a live session ends when its token gets an end that is over", async () => {
  await using file = await FileServer.open("a name=ada\nb name=bob\n");
  await using ada = await RawPeer.join(file.server.url, lab, { auth: { token: "a" } });
  const heard = ada.next("notify:connection_closing");
  await file.write("a name=ada expires=2020-01-01\nb name=bob\n");
  assertEquals(Object(await heard).code, "credentials_expired");
});

Deno.test("a broken token file changes nothing, and the log says why without a token", async () => {
  await using file = await FileServer.open("s3cret name=ada\n");
  await using peer = await RawPeer.join(file.server.url, lab, { auth: { token: "s3cret" } });
  await file.write("s3cret name=ada office=lab\nother\n");
  assertMatch(await file.server.metrics(), /^a2c_refused_files 1$/m);
  assertEquals([await isAdmitted(file, "s3cret"), await isAdmitted(file, "other")], [true, false]);
  assertEquals(peer.socket.connected, true);
  const errors = file.log.of("error");
  assert(errors.some(({ fields }) => String(fields["error"]).includes("line 1")), JSON.stringify(errors));
  assert(!JSON.stringify(file.log.lines).includes("s3cret"));
});

Deno.test("a space or a comment that is added to a live line throws nobody out", async () => {
  await using file = await FileServer.open("s3cret name=ada offices=lab roles=agent\n");
  await using peer = await RawPeer.join(file.server.url, lab, { auth: { token: "s3cret" } });
  await file.write("s3cret name=ada offices=lab, den roles=agent\nother\n");
  assertEquals([await isAdmitted(file, "s3cret"), await isAdmitted(file, "other")], [true, false]);
  // The file may also have been read while it was written.
  const errors = file.log.of("error");
  assert(
    errors.some(({ fields }) => String(fields["error"]).includes("line 1 has a space")),
    JSON.stringify(errors),
  );
  assert(!JSON.stringify(file.log.lines).includes("s3cret"));
  await file.write("s3cret name=ada offices=lab roles=agent   # the laptop of Ada\nother\n");
  assertEquals([await isAdmitted(file, "s3cret"), await isAdmitted(file, "other")], [true, true]);
  assertEquals(peer.socket.connected, true);
});
