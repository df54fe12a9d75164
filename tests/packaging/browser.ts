/** An Agent in a web page: the npm package bundled for browsers, in headless Chromium, against real Servers. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { basename, join } from "@std/path";
import * as esbuild from "esbuild";
import { Computer } from "../../computer.ts";
import { SmcpServer, type SmcpServerOptions, staticTokens } from "../../server.ts";
import { isRecord } from "../../src/json/json.ts";
import { Chromium } from "../fixtures/chromium.ts";
import { KIOSK_HOST } from "../fixtures/kiosk.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { eventually } from "../fixtures/within.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

/** The most bytes of a page with nothing but an Agent, as docs/install.md says. */
const MAX_AGENT_BYTES = 305_000;
/** The most bytes that a page with a toolkit loads at once. */
const MAX_TOOLKIT_BYTES = 300_000;
/** A path of the pages' site that redirects. */
const MOVED = "/moved";
const OFFICE = { office: "lab", name: "ada", token: "s3cret" };

/** Bundles the page that is compiled in the folder as anybody would, in chunks: by name, what is loaded at once or later. */
export async function bundlePage(folder: string): Promise<ReadonlyMap<string, string>> {
  const options = {
    absWorkingDir: folder,
    platform: "browser",
    format: "esm",
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    logLevel: "warning",
  } as const;
  try {
    const stdin = { contents: 'export { Agent } from "@a2c-smcp/sdk/agent";', resolveDir: folder };
    const agent = await esbuild.build({ ...options, stdin });
    const agentBytes = agent.outputFiles[0]?.contents.byteLength ?? Infinity;
    assert(agentBytes < MAX_AGENT_BYTES, `the Agent alone: ${agentBytes}`);
    const entryPoints = [join(folder, "out", "page.js")];
    const page = await esbuild.build({
      ...options,
      entryPoints,
      splitting: true,
      outdir: join(folder, "web"),
    });
    const bytes = bytesAtOnce(page.metafile);
    assert(bytes < MAX_TOOLKIT_BYTES, `a page with a toolkit: ${bytes}`);
    return new Map(page.outputFiles.map(({ path, text }) => [basename(path), text]));
  } finally {
    await esbuild.stop();
  }
}

/** The bytes of the page and of all that it imports other than by `import()`. */
function bytesAtOnce({ outputs }: esbuild.Metafile): number {
  const seen = new Set<string>();
  const add = (path: string): number => {
    const output = outputs[path];
    if (output === undefined || seen.has(path)) return 0;
    seen.add(path);
    const imported = output.imports.filter(({ kind }) => kind === "import-statement");
    return imported.reduce((sum, { path }) => sum + add(path), output.bytes);
  };
  return Object.keys(outputs).filter((path) => path.endsWith("page.js")).reduce(
    (sum, path) => sum + add(path),
    0,
  );
}

/** Serves the scripts in pages of two sites, and opens them in one browser. */
export class Site implements AsyncDisposable {
  readonly #http: Deno.HttpServer<Deno.NetAddr>;
  readonly #browser: Chromium;
  /** The origin of the pages that a Server allows. */
  readonly allowed: string;
  /** The origin of a page that no Server allows. */
  readonly other: string;

  private constructor(http: Deno.HttpServer<Deno.NetAddr>, browser: Chromium, port: number) {
    this.#http = http;
    this.#browser = browser;
    [this.allowed, this.other] = originsOf(port);
  }

  static async open(scripts: ReadonlyMap<string, string>): Promise<Site> {
    const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
      if (new URL(url).pathname.startsWith(MOVED)) {
        return new Response(null, { status: 302, headers: { location: "/elsewhere" } });
      }
      const script = scripts.get(basename(new URL(url).pathname));
      const type = script === undefined ? "text/html" : "text/javascript";
      const body = script ?? '<!doctype html><script type="module" src="/page.js"></script>';
      return new Response(body, { headers: { "content-type": type } });
    });
    const { port } = http.addr;
    const browser = await Chromium.open(
      "--host-resolver-rules=MAP *.example 127.0.0.1",
      // In place of a certificate.
      `--unsafely-treat-insecure-origin-as-secure=${originsOf(port).join(",")}`,
    );
    return new Site(http, browser, port);
  }

  /** Opens a page of an origin; what it defines is there then. */
  async goTo(origin: string): Promise<void> {
    await this.#open(origin, '"visit" in globalThis');
  }

  /** Why the script cannot run in a page that came by plain HTTP. */
  async goToPlainPage(): Promise<unknown> {
    const origin = `http://plain.example:${this.#http.addr.port}`;
    await this.#open(origin, "true");
    return await this.#browser.run(
      `import("${origin}/page.js").then(() => "runs", ({ message }) => message)`,
    );
  }

  /** Calls a function of the page, and gives what it resolves to. */
  async call(name: "visit" | "fail" | "read", argument: unknown): Promise<Record<string, unknown>> {
    const result = await this.#browser.run(`${name}(${JSON.stringify(argument)})`);
    assert(isRecord(result), `${name} gave ${JSON.stringify(result)}`);
    return result;
  }

  /** Opens a page, and waits until a condition holds in it. */
  async #open(origin: string, condition: string): Promise<void> {
    await this.#browser.goTo(`${origin}/`);
    const look = () => this.#browser.evaluate(`location.origin === "${origin}" && ${condition}`);
    await eventually(look, (holds) => holds === true, `the page of ${origin}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser[Symbol.asyncDispose]();
    await this.#http.shutdown();
  }
}

function originsOf(port: number): [allowed: string, other: string] {
  return [`http://app.example:${port}`, `http://evil.example:${port}`];
}

/** A page uses a Computer, over one transport. */
export async function visitBy(transport: "polling" | "websocket", site: Site): Promise<void> {
  using folder = new TempFolder();
  await using server = await listen(site, { transports: [transport] });
  await using computer = Computer.open({
    name: "laptop",
    config: { servers: { kiosk: kioskOnStdio() } },
    protocolVersion: "0.4",
    uploads: folder.path,
  });
  await computer.join({ url: server.url, office: "lab", token: "s3cret" });
  await computer.ready();
  await site.goTo(site.allowed);
  const { windows, path, checksums, ...got } = await site.call("visit", { url: server.url, ...OFFICE });
  assertEquals(got, {
    protocol: "0.4",
    tools: ["kiosk__echo", "kiosk__show"],
    content: [{ type: "text", text: "hi" }],
    news: "laptop",
    host: KIOSK_HOST,
    page: "Tea and coffee",
    answer: [{ type: "text", text: "ho" }],
    isPrompted: true,
  });
  assertStringIncludes(String(windows), "Open");
  const bytes = await Deno.readFile(String(path));
  assertEquals(bytes, new Uint8Array(300_000).fill(7));
  const checksum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  assertEquals(checksums, [checksum, checksum, checksum]);
}

/** A page is told why it cannot connect, and reads the answers of a Server that allows it. */
export async function failBy(transport: "polling" | "websocket", site: Site): Promise<void> {
  await using server = await listen(site, { transports: [transport], acceptedVersions: ["0.2"] });
  const place = { url: server.url, ...OFFICE };
  const fail = async (more: Readonly<Record<string, unknown>>) => {
    const { message, ...rest } = await site.call("fail", { ...place, ...more });
    return { message: String(message), rest };
  };
  await site.goTo(site.allowed);
  const wrongToken = await fail({ token: "wrong" });
  assertEquals(wrongToken.rest, { name: "AuthenticationError", code: 401 });
  const wrongVersion = await fail({ protocolVersion: "0.4" });
  assertEquals(wrongVersion.rest, { name: "ProtocolVersionError", code: 4008 });
  assertStringIncludes(wrongVersion.message, "0.2");
  for (const [option, value] of Object.entries({ headers: { "x-key": "1" }, ca: "PEM" })) {
    const { message, rest } = await fail({ [option]: value });
    assertEquals(rest, { name: "TypeError" });
    assertStringIncludes(message, `with ${option}`);
  }
  const moved = await fail({ url: `${site.allowed}${MOVED}` });
  assertEquals(moved.rest, { name: "ServerUnreachableError" });
  assertStringIncludes(moved.message, "redirects");
  const refused = `${server.url}/socket.io/?EIO=4&transport=${transport}&a2c_version=9.9.9`;
  const { status, body } = await site.call("read", refused);
  assertEquals([status, JSON.parse(String(body)).code], [400, 4008]);
  await site.goTo(site.other);
  assertEquals(await site.call("read", refused), { status: 0, body: "" });
  const otherPage = await fail({});
  assertEquals(otherPage.rest, { name: "Error" });
  assertStringIncludes(otherPage.message, "retrying");
  assertStringIncludes(otherPage.message, `"${site.other}" (--allow-origin)`);
}

function listen(site: Site, options: SmcpServerOptions): Promise<SmcpServer> {
  const auth = staticTokens({ tokens: ["s3cret"] });
  return SmcpServer.listen({ ...options, port: 0, auth, allowedOrigins: [site.allowed] });
}
