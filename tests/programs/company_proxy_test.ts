/** Company networks: Agent, Computer and an MCP server with a sign-in through a real proxy that wants credentials. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { SmcpServer } from "../../server.ts";
import { AuthorizationServer } from "../fixtures/authorization_server.ts";
import { runDoor, startDoor } from "../fixtures/door.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { hasSquid, PROXIED_DOMAIN, Squid } from "../fixtures/squid.ts";
import { eventually } from "../fixtures/within.ts";
import { Workplace } from "../integration/_computer_program.ts";
import { makeCertificate } from "../integration/_tls_server.ts";

const ignore = !hasSquid;
const HUB = `hub.${PROXIED_DOMAIN}`;
const ECHO = { tools: [{ name: "echo", inputSchema: { type: "object" } }] };
const MEMBER = ["--office", "lab", "--name"];

/** The variables of a company's machine: no name of the company is known here without its proxy. */
function companyEnv(proxy: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const others = ["ALL_PROXY", "all_proxy", "http_proxy", "https_proxy", "NO_PROXY", "no_proxy"];
  const none = Object.fromEntries(others.map((name) => [name, ""]));
  return { ...none, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, DENO_NO_UPDATE_CHECK: "1", ...more };
}

/** Whether somebody used the proxy for that, with credentials. */
function has(squid: Squid, entry: string): boolean {
  return squid.log.some((line) => line.startsWith(entry) && line.endsWith(" ada"));
}

Deno.test({
  name:
    "Agent, Computer, MCP server and sign-in go through a proxy that wants credentials, with TLS behind it",
  ignore,
  async fn() {
    using place = new Workplace();
    const { certFile, keyFile } = await makeCertificate(place.folder, { host: `*.${PROXIED_DOMAIN}` });
    const [cert, key] = [Deno.readTextFileSync(certFile), Deno.readTextFileSync(keyFile)];
    const http = createServer({ cert, key });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const { port } = http.address() as AddressInfo;
    await using _server = SmcpServer.attach(http, { allowAnonymous: true, allowedHosts: [HUB] });
    await using as = new AuthorizationServer();
    await using mcp = new HttpMcpServer("streamable", ECHO, { intercept: (...sent) => as.guard(...sent) });
    await using front = Deno.serve(
      { port: 0, hostname: "127.0.0.1", cert, key, onListen() {} },
      (request) => {
        const { hostname, pathname, search } = new URL(request.url);
        return relay(request, hostname.startsWith("mcp.") ? mcp.url : `${inner}${pathname}${search}`);
      },
    );
    const inner = as.issuer;
    const issuer = `https://auth.${PROXIED_DOMAIN}:${front.addr.port}`;
    Object.defineProperty(as, "issuer", { value: issuer });
    as.mcpUrl = `https://mcp.${PROXIED_DOMAIN}:${front.addr.port}/mcp`;
    await using squid = await Squid.start(["hub", "mcp", "auth"]);
    await using near = new HttpMcpServer("streamable", { tools: [] });

    const oauth = { grant: "client_credentials", clientId: "known", clientSecret: "secret-1234" };
    const guarded = { url: as.mcpUrl, oauth, alwaysAllow: ["*"] };
    const config = place.write("mcp.json", { mcpServers: { guarded, near: { url: near.url } } });
    const env = companyEnv(squid.url(), { ...place.env, NODE_EXTRA_CA_CERTS: certFile });
    const url = ["--url", `https://${HUB}:${port}`];
    const words = ["--headless", ...url, ...MEMBER, "laptop", "--config", config];
    await using computer = startDoor("computer.ts", words, { env });
    for (const told of ["joined office", "running server=near", "running server=guarded"]) {
      await computer.said(told);
    }
    const called = await runDoor("agent.ts", [...url, ...MEMBER, "ada", "call", "echo"], { env });
    assertEquals([called.code, called.stderr], [0, ""]);
    // The proxy logs a tunnel when it ends.
    computer.kill();
    await computer.end();

    const used = () =>
      ["hub", "mcp", "auth"].filter((name) => has(squid, `CONNECT ${name}.${PROXIED_DOMAIN}:`));
    await eventually(
      () => used().join(),
      (names) => names === "hub,mcp,auth",
      "the tunnels in the log of the proxy",
    );
    assertEquals(squid.log.filter((line) => /127\.0\.0\.1|407/.test(line)), []);
    const said = `${computer.stderr.text}${computer.stdout.text}${called.stdout}`;
    assertEquals(/rd@|p%40ss|HTTP polling/.test(said), false, said);
  },
});

async function relay(request: Request, to: string): Promise<Response> {
  const body = request.method === "POST" ? await request.text() : null;
  const headers = new Headers(request.headers);
  headers.delete("host");
  return await fetch(to, {
    method: request.method,
    headers,
    body,
    redirect: "manual",
    signal: request.signal,
  });
}

Deno.test({
  name: "where a proxy cuts WebSockets, one line says so, and the Computer answers by polling",
  ignore,
  async fn() {
    using place = new Workplace();
    await using server = await listenAsHub();
    await using squid = await Squid.start(["hub"], ["acl tunnel method CONNECT", "http_access deny tunnel"]);
    await using near = new HttpMcpServer("streamable", ECHO);
    const config = place.write("mcp.json", { mcpServers: { near: { url: near.url, alwaysAllow: ["*"] } } });
    const env = companyEnv(squid.url(), place.env);
    const url = ["--url", `http://${HUB}:${server.port}`];
    const words = ["--headless", ...url, ...MEMBER, "laptop", "--config", config];
    await using computer = startDoor("computer.ts", words, { env });
    for (const told of ["joined office", "running server=near", "HTTP polling"]) await computer.said(told);
    const called = await runDoor("agent.ts", [...url, ...MEMBER, "ada", "call", "echo"], { env });
    assertEquals([called.code, called.stderr], [0, ""]);
    const [line = "", ...others] = computer.stderr.text.split("\n").filter((text) =>
      /WARN/.test(text) && /WebSocket/.test(text)
    );
    assertMatch(line, /HTTP polling.*"?reason.*HTTP 403/);
    assertEquals(others, []);
    assert(has(squid, `GET http://${HUB}:${server.port}/socket.io/`), squid.log.join("\n"));
  },
});

Deno.test({
  name: "a proxy that refuses is told at once, with the variable to set, and without the password",
  ignore,
  async fn() {
    await using server = await listenAsHub();
    await using squid = await Squid.start(["hub"]);
    const run = (proxy: string, scheme: string, more: readonly string[] = []) => {
      const url = ["--url", `${scheme}://${HUB}:${server.port}`];
      const words = [...url, ...MEMBER, "ada", "--connect-timeout", "100", ...more, "office"];
      return runDoor("agent.ts", words, { env: companyEnv(proxy) });
    };
    for (const scheme of ["http", "https"]) {
      const wrong = await run(squid.url("wr:ong"), scheme);
      assertEquals(wrong.code, 3);
      assertMatch(wrong.stderr, new RegExp(`HTTP 407.*${scheme.toUpperCase()}_PROXY`));
      assertEquals(/wr:ong|wr%3Aong/.test(wrong.stderr), false);
    }
    const given = await run("", "https", ["--proxy", `127.0.0.1:${squid.port}`]);
    assertMatch(given.stderr, /HTTP 407.*A2C_PROXY=http:\/\/USER:PASSWORD@127/);
    const open = await run("", "https", ["--proxy", squid.url()]);
    assertMatch(open.stderr, /Cannot use --proxy with a user name/);
    assertEquals(open.stderr.includes("p%40ss"), false);
  },
});

function listenAsHub(): Promise<SmcpServer> {
  return SmcpServer.listen({ port: 0, allowAnonymous: true, allowedHosts: [HUB] });
}
