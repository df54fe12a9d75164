import { assert, assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { Agent, AuthenticationError } from "../../agent.ts";
import { Computer } from "../../computer.ts";
import { JwtTokens, SmcpServer, staticTokens } from "../../server.ts";
import { runHosted } from "../fixtures/hosted_door.ts";
import { ISSUER, signWithSecret } from "../fixtures/issuer.ts";
import { eventually, within } from "../fixtures/within.ts";
import { Workplace } from "../integration/_computer_program.ts";
import { makeCertificate, TlsServer } from "../integration/_tls_server.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const config = { servers: {}, inputs: [] };

/** A JWT that expires in `seconds`. */
function shortLived(seconds: number, sub = "ada"): Promise<string> {
  return signWithSecret(SECRET, { sub, exp: Math.floor(Date.now() / 1_000) + seconds });
}

function openTokens(): Promise<JwtTokens> {
  return JwtTokens.open({ secret: SECRET, issuer: ISSUER, clockToleranceMs: 0 });
}

Deno.test("a Computer whose JWT has expired comes back to its office with a new one", async () => {
  await using tokens = await openTokens();
  await using server = await SmcpServer.listen({ port: 0, auth: tokens });
  await using agent = await Agent.connect({
    url: server.url,
    office: "lab",
    name: "ada",
    token: await shortLived(300),
  });
  const left = new Promise((resolve) => void agent.on("leaveOffice", resolve));
  await using computer = Computer.open({ name: "laptop", config });
  let asked = 0;
  await computer.join({
    url: server.url,
    office: "lab",
    reconnectDelayMs: 10,
    // Of another principal each time, so that they cannot replace each other on one connection.
    credentials: async () => ({ token: await shortLived(4, `laptop-${++asked}`) }),
    onFailed: (error) => {
      throw error;
    },
  });
  await within(left, "the end of its first token");
  await eventually(
    async () => (await agent.listOffice()).map(({ name }) => name),
    (names) => names.includes("laptop"),
    "the Computer in its office",
  );
});

Deno.test("an Agent whose source still has the expired token asks it again", async () => {
  await using tokens = await openTokens();
  await using server = await SmcpServer.listen({ port: 0, auth: tokens });
  const token = await shortLived(4);
  let asked = 0;
  await using agent = await Agent.connect({
    url: server.url,
    office: "lab",
    name: "ada",
    reconnectDelayMs: 1,
    credentials: () => {
      asked++;
      return { headers: { authorization: `Bearer ${token}` } };
    },
  });
  const lost = new Promise((resolve) => void agent.on("disconnected", resolve));
  await within(lost, "the loss");
  // It waits for a newer token for a while, so it does not fail at once.
  const before = asked;
  await eventually(() => asked, (count) => count >= before + 2, "another attempt");
  assertEquals(agent.isConnected, false);
});

Deno.test("a source that fails ends the first attempt, and is asked again after a loss", async () => {
  const account = new AbortController();
  let isFirst = true;
  await using server = await SmcpServer.listen({
    port: 0,
    auth: {
      authenticate() {
        const signal = isFirst ? account.signal : undefined;
        isFirst = false;
        return { principal: "ada", signal };
      },
    },
  });
  const place = { url: server.url, office: "lab", name: "ada", reconnectDelayMs: 1 };
  const failing = () => Promise.reject(new TypeError("offline"));
  await assertRejects(
    () => Agent.connect({ ...place, credentials: failing }),
    AuthenticationError,
    "offline",
  );
  let asked = 0;
  const credentials = () => {
    asked++;
    return asked === 2 || asked === 3 ? failing() : Promise.resolve({ token: "t" });
  };
  await using agent = await Agent.connect({ ...place, credentials });
  const returned = new Promise((resolve) => void agent.on("reconnected", resolve));
  account.abort("expired");
  await within(returned, "the return");
  assertEquals(asked, 4);
});

Deno.test("a source that is slow is not waited for any longer than the time to connect", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const options = { url: server.url, office: "lab", name: "ada", timeoutMs: 50 };
  let signal: AbortSignal | undefined;
  const credentials = (context: { signal: AbortSignal }) => {
    signal = context.signal;
    return new Promise<never>(() => {});
  };
  const connecting = Agent.connect({ ...options, credentials });
  await assertRejects(() => within(connecting, "the end"), AuthenticationError, "No credentials within");
  assert(signal?.aborted);
});

Deno.test("computer.ts keeps its office by the token that its file has by then", async () => {
  using place = new Workplace();
  const config = place.write("config.json", { mcpServers: {} });
  const file = join(place.folder, "token");
  const write = async (seconds: number) => {
    await Deno.rename(place.write("draft", await shortLived(seconds)), file);
  };
  await write(10);
  await using tokens = await openTokens();
  await using server = await SmcpServer.listen({ port: 0, auth: tokens });
  const args = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config, "--headless"];
  await using program = place.start([...args, "--token-file", file, "--log-level", "debug"]);
  // However long the program takes to start, its token is a new one.
  const joined = async () => {
    await write(10);
    return program.stdout.text;
  };
  await eventually(joined, (text) => text.includes("joined office"), "the Computer to join");
  await write(300);
  await program.stderr.until("renewed the credentials");
  assert(!program.stderr.text.includes("connection lost"), program.stderr.text);
  program.kill("SIGINT");
  await program.end();
});

Deno.test("agent.ts takes its token from a file or a command, and says why it cannot", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["s3cret"] }) });
  const args = ["--url", server.url, "--office", "lab", "--name", "ada", "office"];
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, "s3cret\n");
  for (const source of [["--token-file", file], ["--token-command", "printf s3cret"]]) {
    const { code, stderr } = await runHosted("agent.ts", [...source, ...args]);
    assertEquals([code, stderr], [0, ""]);
  }
  await Deno.remove(file);
  for (const source of [["--token-file", file], ["--token-command", "exit 7"]]) {
    const { code, stderr } = await runHosted("agent.ts", [...source, ...args]);
    assertEquals(code, 4, stderr);
    assert(/no such file|exit code 7/.test(stderr), stderr);
  }
});

Deno.test("--ca-file and `ca` trust a certificate authority, and its certificate alone", async () => {
  using folder = new TempFolder();
  const own = await makeCertificate(folder.path);
  const other = await makeCertificate(folder.path, { host: "elsewhere.example" });
  await using server = await TlsServer.listen(own);
  const url = `https://localhost:${server.port}`;
  const args = ["--url", url, "--office", "lab", "--name", "ada", "office"];
  const joined = await runHosted("agent.ts", ["--ca-file", own.certFile, ...args]);
  assertEquals([joined.code, joined.stderr], [0, ""]);
  for (const wrong of [[], ["--ca-file", other.certFile]]) {
    const { code, stderr } = await runHosted("agent.ts", [...wrong, ...args]);
    assertEquals(code, 3);
    assertStringIncludes(stderr, "certificate");
  }
  const ca = await Deno.readTextFile(own.certFile);
  await using agent = await Agent.connect({ url, office: "lab", name: "ada", ca });
  assertEquals((await agent.listOffice()).length, 1);
  await using computer = Computer.open({ name: "laptop", config });
  await computer.join({ url, office: "lab", ca });
});

Deno.test("an error of a source is an AuthenticationError with its cause", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const cause = new TypeError("no session");
  const credentials = () => {
    throw cause;
  };
  const error = await Agent.connect({ url: server.url, office: "lab", name: "ada", credentials })
    .then(() => undefined, (error) => error);
  assertInstanceOf(error, AuthenticationError);
  assertEquals(error.cause, cause);
});
