import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { connect } from "node:tls";
import { Agent } from "../../agent.ts";
import { Computer } from "../../computer.ts";
import { FileContentError, SmcpServer, staticTokens } from "../../server.ts";
import { startDoor } from "../fixtures/door.ts";
import { runHosted } from "../fixtures/hosted_door.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { within } from "../fixtures/within.ts";
import { type CertificateOptions, makeCertificate } from "./_tls_server.ts";

/** A folder with a certificate in `cert` and `key`, and others to put there. */
class Certificates implements AsyncDisposable {
  readonly folder: string = Deno.makeTempDirSync();
  readonly files = { certFile: join(this.folder, "cert"), keyFile: join(this.folder, "key") };

  /** Makes a certificate, and gives its texts. */
  async make(options?: CertificateOptions): Promise<{ readonly cert: string; readonly key: string }> {
    const { certFile, keyFile } = await makeCertificate(this.folder, options);
    return { cert: await Deno.readTextFile(certFile), key: await Deno.readTextFile(keyFile) };
  }

  /** Puts texts into the files, each in one step. */
  async install({ cert, key }: { readonly cert?: string; readonly key?: string }): Promise<void> {
    for (const [file, text] of [[this.files.keyFile, key], [this.files.certFile, cert]] as const) {
      if (text === undefined) continue;
      await Deno.writeTextFile(`${file}.new`, text);
      await Deno.rename(`${file}.new`, file);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Deno.remove(this.folder, { recursive: true });
  }
}

/** The certificate that a server shows now, if the client trusts `ca`. */
function handshake(port: number, ca: string): Promise<"trusted" | "refused"> {
  const { promise, resolve } = Promise.withResolvers<"trusted" | "refused">();
  const socket = connect({ port, host: "127.0.0.1", servername: "localhost", ca }, () => resolve("trusted"));
  socket.on("error", () => resolve("refused"));
  return within(promise, "the TLS handshake").finally(() => socket.destroy());
}

Deno.test("Agent and Computer meet on a Server with TLS", async () => {
  await using certificates = new Certificates();
  const { cert, key } = await certificates.make();
  const auth = staticTokens({ tokens: ["s3cret"] });
  await using server = await SmcpServer.listen({ host: "localhost", port: 0, tls: { cert, key }, auth });
  const { url } = server;
  assertEquals(url, `https://localhost:${server.port}`);
  const place = { url, office: "lab", ca: cert, token: "s3cret" };
  await using computer = Computer.open({ name: "laptop", config: { servers: {}, inputs: [] } });
  await computer.join(place);
  await using agent = await Agent.connect({ ...place, name: "ada" });
  assertEquals(await agent.computer("laptop").getTools(), []);
  const client = Deno.createHttpClient({ caCerts: [cert] });
  assertStringIncludes(await (await fetch(`${url}/healthz`, { client })).text(), "ok");
  client.close();
});

Deno.test("a certificate is replaced while the Server runs, and open connections stay", async () => {
  await using certificates = new Certificates();
  const [first, second] = [await certificates.make(), await certificates.make()];
  await certificates.install(first);
  const logger = new LogBook();
  await using server = await SmcpServer.listen({
    host: "localhost",
    port: 0,
    tls: certificates.files,
    logger,
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada", ca: first.cert });
  const looks = async () => [
    await handshake(server.port, first.cert),
    await handshake(server.port, second.cert),
  ];
  assertEquals(await looks(), ["trusted", "refused"]);
  const replaced = logger.next(({ message }) => message === "using the new TLS certificate");
  await certificates.install(second);
  await replaced;
  assertEquals(await looks(), ["refused", "trusted"]);
  assertEquals((await agent.listOffice()).length, 1);
});

Deno.test("an expired certificate is used with a warning, at the start and when it replaces another one", async () => {
  await using certificates = new Certificates();
  const [expired, valid] = [await certificates.make({ isExpired: true }), await certificates.make()];
  const warnings = (logger: LogBook) =>
    logger.of("warn").filter(({ message }) => message.includes("has expired"));
  const given = new LogBook();
  await using _expired = await SmcpServer.listen({ port: 0, tls: expired, logger: given });
  assertEquals(warnings(given).length, 1);
  await certificates.install(valid);
  const logger = new LogBook();
  const options = { port: 0, tls: certificates.files, logger, metrics: true };
  await using server = await SmcpServer.listen(options);
  assertEquals(warnings(logger).length, 0);
  const endOf = async () => {
    const [, seconds] =
      /^a2c_tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(await server.metrics()) ?? [];
    return Number(seconds) * 1_000;
  };
  assert(await endOf() > Date.now());
  const warned = logger.next(({ level, message }) => level === "warn" && message.includes("has expired"));
  await certificates.install(expired);
  const { fields } = await warned;
  assertEquals(Date.parse(String(fields["valid_to"])), await endOf());
  assert(await endOf() < Date.now());
});

Deno.test("a certificate that cannot be used keeps the former one", async () => {
  await using certificates = new Certificates();
  const [first, second] = [await certificates.make(), await certificates.make()];
  await certificates.install(first);
  const logger = new LogBook();
  const tls = certificates.files;
  await using server = await SmcpServer.listen({ host: "localhost", port: 0, tls, logger });
  const broken: readonly [{ cert?: string; key?: string }, string][] = [
    [{ cert: second.cert }, "not the one of the certificate"],
    [{ cert: "garbage" }, "PEM"],
    [{ cert: first.cert.replace(/\n.+\n/, "\nAAAA\n") }, "cannot be read"],
    [{ cert: first.cert, key: "garbage" }, "private key"],
    [{ key: "-----BEGIN ENCRYPTED PRIVATE KEY-----" }, "encrypted"],
  ];
  for (const [texts, reason] of broken) {
    const refused = logger.next(({ level }) => level === "error");
    await certificates.install(texts);
    const { fields } = await refused;
    assertStringIncludes(String(fields["error"]), reason);
    assertEquals(await handshake(server.port, first.cert), "trusted", reason);
  }
  const replaced = logger.next(({ message }) => message === "using the new TLS certificate");
  await certificates.install(second);
  await replaced;
  assertEquals(await handshake(server.port, second.cert), "trusted");
  assert(!JSON.stringify(logger.lines).includes("BEGIN"), "no key in the log");
});

Deno.test(
  "a key that clients cannot use keeps the former pair; all others take its place",
  async () => {
    await using certificates = new Certificates();
    let used = await certificates.make();
    await certificates.install(used);
    const logger = new LogBook();
    const tls = certificates.files;
    await using server = await SmcpServer.listen({ host: "localhost", port: 0, tls, logger });
    const kinds = {
      "ec:secp256k1": "ec:secp384r1",
      "ec:secp224r1": "ec:secp521r1",
      "ed448": "ed25519",
      "rsa:1024": "rsa:2048",
    };
    for (const [kind, usable] of Object.entries(kinds)) {
      const unusable = await certificates.make({ kind });
      const refused = logger.next(({ level, fields }) =>
        level === "error" && /RSA/.test(String(fields["error"]))
      );
      await certificates.install(unusable);
      await refused;
      assertEquals(await handshake(server.port, used.cert), "trusted", kind);
      await assertRejects(() => SmcpServer.listen({ port: 0, tls: unusable }), FileContentError, "RSA");
      used = await certificates.make({ kind: usable });
      const replaced = logger.next(({ message }) => message === "using the new TLS certificate");
      await certificates.install(used);
      await replaced;
      assertEquals(await handshake(server.port, used.cert), "trusted");
    }
  },
);

Deno.test("a Server does not start with a certificate that cannot be used", async () => {
  await using certificates = new Certificates();
  const [first, second] = [await certificates.make(), await certificates.make()];
  for (const tls of [{ ...first, key: second.key }, { ...first, cert: "" }, certificates.files]) {
    await assertRejects(() => SmcpServer.listen({ port: 0, tls }), FileContentError);
  }
});

Deno.test("server.ts serves TLS with --tls-cert and --tls-key", async () => {
  await using certificates = new Certificates();
  const { cert, key } = await certificates.make();
  await certificates.install({ cert, key });
  const { certFile, keyFile } = certificates.files;
  const tls = ["--host", "localhost", "--port", "0", "--tls-cert", certFile, "--tls-key", keyFile];
  await using program = startDoor("server.ts", tls);
  const url = await program.listening();
  assertStringIncludes(url, "https://localhost:");
  const args = ["--url", url, "--office", "lab", "--name", "ada", "--ca-file", certFile, "office"];
  const { code, stderr } = await runHosted("agent.ts", args);
  assertEquals([code, stderr], [0, ""]);
  program.kill("SIGTERM");
  assertEquals((await program.end()).code, 0);
  for (const wrong of [["--tls-cert", certFile], ["--tls-cert", keyFile, "--tls-key", keyFile]]) {
    const refused = await runHosted("server.ts", ["--port", "0", ...wrong]);
    assertEquals(refused.code, 2, refused.stderr);
  }
});
