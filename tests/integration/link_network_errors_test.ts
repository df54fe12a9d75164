// What is wrong with the way to a Server is said as it is, and at once where waiting does not help.

import { assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../agent.ts";
import { SmcpServer } from "../../server.ts";
import { AuthenticationError, ServerUnreachableError } from "../../src/link/errors.ts";
import { type DoorOutcome, runDoor } from "../fixtures/door.ts";
import { runHosted } from "../fixtures/hosted_door.ts";
import { BareServer } from "./_bare_server.ts";
import { ClosedPort } from "../fixtures/tcp_proxy.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { within } from "../fixtures/within.ts";
import { makeCertificate, TlsServer } from "./_tls_server.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

/** Connects with an hour's time, which only a permanent error leaves unused; gives the error. */
async function failAtOnce(url: string, options: { readonly path?: string } = {}): Promise<Error> {
  const rejected = assertRejects(
    () => Agent.connect({ url, office: "lab", name: "ada", timeoutMs: 3_600_000, ...options }),
    Error,
  );
  return await within(rejected, "an error that is permanent");
}

async function assertPermanent(
  url: string,
  { word, path }: { readonly word: string; readonly path?: string },
): Promise<ServerUnreachableError> {
  const error = await failAtOnce(url, path === undefined ? {} : { path });
  assertInstanceOf(error, ServerUnreachableError);
  assertStringIncludes(error.message, word);
  assertEquals(error.isPermanent, true);
  return error;
}

Deno.test("a host that does not exist is not found", async () => {
  const error = await assertPermanent("http://no-such-host.invalid:3000", { word: "host not found" });
  assertStringIncludes(String(error.cause), "ENOTFOUND");
});

Deno.test("TLS to a plain port, and plain HTTP to a TLS port, name the other scheme", async () => {
  using folder = new TempFolder();
  await using plain = await SmcpServer.listen({ port: 0 });
  await using tls = await TlsServer.listen(await makeCertificate(folder.path));
  await assertPermanent(`https://127.0.0.1:${plain.port}`, { word: "use http://" });
  await assertPermanent(`http://localhost:${tls.port}`, { word: "use https://" });
});

Deno.test("a port that closes the connection may speak the other scheme", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = closeEach(listener);
  for (const [scheme, other] of [["http", "https"], ["https", "http"]]) {
    const url = `${scheme}://127.0.0.1:${listener.addr.port}`;
    const logger = new LogBook();
    const stop = new AbortController();
    const { signal } = stop;
    const connecting = assertRejects(
      () => Agent.connect({ url, office: "lab", name: "ada", timeoutMs: 3_600_000, signal, logger }),
      DOMException,
    );
    const { fields } = await logger.until(({ message }) => message.startsWith("cannot connect"));
    assertStringIncludes(String(fields["error"]), "connection closed before an answer");
    assertStringIncludes(String(fields["error"]), `use ${other}://`);
    stop.abort();
    await connecting;
  }
  listener.close();
  await served;
});

Deno.test("a port for TLS that answers plain HTTP with an error names https", async () => {
  for (
    const text of [
      "Client sent an HTTP request to an HTTPS server.\n",
      "<center>The plain HTTP request was sent to HTTPS port</center>",
    ]
  ) {
    await using server = await BareServer.listen({
      intercept(_request, response) {
        response.writeHead(400);
        response.end(text);
        return true;
      },
    });
    await assertPermanent(server.url, { word: "use https://" });
  }
});

Deno.test("a certificate is named by what is wrong with it", async () => {
  using folder = new TempFolder();
  for (const [options, word] of [[{}, "self-signed"], [{ isExpired: true }, "expired"]] as const) {
    await using server = await TlsServer.listen(await makeCertificate(folder.path, options));
    const error = await assertPermanent(`https://localhost:${server.port}`, { word });
    assertEquals(Deno.inspect(error).split("\n").length < 30, true, Deno.inspect(error));
  }
});

Deno.test(
  "NODE_EXTRA_CA_CERTS adds a certificate, whose host must be the one of the URL",
  async () => {
    using folder = new TempFolder();
    const own = await makeCertificate(folder.path);
    const foreign = await makeCertificate(folder.path, { host: "elsewhere.example" });
    await using right = await TlsServer.listen(own);
    await using wrong = await TlsServer.listen(foreign);
    const joined = await runAgent(`https://localhost:${right.port}`, { NODE_EXTRA_CA_CERTS: own.certFile });
    assertEquals([joined.code, joined.stderr], [0, ""]);
    assertStringIncludes(joined.stdout, "the office is empty");
    const refused = await runAgent(`https://localhost:${wrong.port}`, {
      NODE_EXTRA_CA_CERTS: foreign.certFile,
    });
    assertEquals(refused.code, 3);
    assertStringIncludes(refused.stderr, "another host");
  },
);

Deno.test("an HTTP error names its status and the address that was asked", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const { port } = server;
  await assertPermanent(`http://127.0.0.1:${port}`, {
    path: "/other/",
    word: `HTTP 404 from "http://127.0.0.1:${port}/other/"`,
  });
  await assertPermanent(`http://127.0.0.1:${port}/a2c`, { word: `127.0.0.1:${port}/a2c/socket.io/"` });
});

Deno.test("HTTP 403 is a refusal, in the words of the answer", async () => {
  await using server = await BareServer.listen({
    intercept(_request, response) {
      response.writeHead(403, { "content-type": "application/json" });
      response.end(`{"message":"not from here"}`);
      return true;
    },
  });
  const error = await failAtOnce(server.url);
  assertInstanceOf(error, AuthenticationError);
  assertStringIncludes(error.message, "not from here");
});

Deno.test("a page in place of Socket.IO is told as such", async () => {
  await using server = await BareServer.listen({
    intercept(_request, response) {
      response.end("<h1>Welcome</h1>");
      return true;
    },
  });
  await assertPermanent(server.url, { word: "not a Socket.IO server" });
});

Deno.test("a connection that is refused is tried again until the time is over", async () => {
  await using port = await ClosedPort.open();
  const { url } = port;
  const error = await assertRejects(
    () => Agent.connect({ url, office: "lab", name: "ada", timeoutMs: 3_000 }),
    ServerUnreachableError,
    "refused",
  );
  assertEquals(error.isPermanent, false);
});

Deno.test("the path of the URL is the beginning of the Socket.IO path", async () => {
  await using server = await SmcpServer.listen({ port: 0, path: "/a2c/socket.io/" });
  await using agent = await Agent.connect({ url: `${server.url}/a2c/`, office: "lab", name: "ada" });
  assertEquals(agent.isConnected, true);
});

Deno.test("a URL that cannot be used is refused before anything is sent", async () => {
  for (const url of ["nonsense", "ftp://127.0.0.1", "http://me:secret@127.0.0.1", "http://127.0.0.1/?a=b"]) {
    const error = await assertRejects(
      () => Agent.connect({ url, office: "lab", name: "ada" }),
      TypeError,
      "Cannot connect",
    );
    assertEquals(error.message.includes("secret"), false);
  }
});

Deno.test("a program that connects again and again warns once of a token that goes to a Server without TLS", async () => {
  const logger = new LogBook();
  const place = { office: "lab", name: "ada", auth: { token: "s3cret" }, timeoutMs: 1, logger };
  for (const host of ["one", "one", "two"]) {
    const url = `http://${host}.invalid`;
    await assertRejects(() => Agent.connect({ ...place, url }), ServerUnreachableError);
  }
  const warnings = logger.lines.filter(({ message }) => message.includes("can be read on the way"));
  assertEquals(warnings.map(({ message }) => /one|two/.exec(message)?.[0]), ["one", "two"]);
});

Deno.test("agent.ts warns of a token that goes to another machine without TLS", async () => {
  const args = ["--url", "http://no-such-host.invalid", "--office", "lab", "--name", "ada", "office"];
  const { code, stderr } = await runHosted("agent.ts", args, { env: { A2C_TOKEN: "s3cret" } });
  assertEquals(code, 3);
  assertStringIncludes(stderr, "warning: credentials (token) can be read on the way");
  assertEquals(stderr.includes("s3cret"), false);
});

/** Ends each connection when it has heard something, until the listener is closed. */
async function closeEach(listener: Deno.TcpListener): Promise<void> {
  for await (const connection of listener) {
    await connection.read(new Uint8Array(512));
    connection.close();
  }
}

/** `agent.ts office` in this environment. */
function runAgent(url: string, env: Readonly<Record<string, string>>): Promise<DoorOutcome> {
  const args = ["--url", url, "--office", "lab", "--name", "ada", "office"];
  return runDoor("agent.ts", args, { env: { NO_COLOR: "1", ...env } });
}
