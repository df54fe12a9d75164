/** Requests of a sign-in with TLS: the connection goes to a checked address, and the certificate is that of the name. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { makeCertificate } from "./_tls_server.ts";

const program = new URL("_pinned_client.ts", import.meta.url).pathname;

/** Runs the client with the permissions of the documentation, and returns what it prints. */
async function ask(pairs: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const flags = ["--allow-net", "--allow-env", "--allow-read", "--no-prompt"];
  const noProxy = {
    HTTPS_PROXY: "",
    https_proxy: "",
    ALL_PROXY: "",
    all_proxy: "",
    NO_PROXY: "",
    no_proxy: "",
  };
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", ...flags, program, ...pairs],
    // Its check for a newer Deno would be the first to ask the proxy.
    env: { ...noProxy, DENO_NO_UPDATE_CHECK: "1", ...env },
  }).output();
  return new TextDecoder().decode(stdout) || new TextDecoder().decode(stderr);
}

Deno.test("a proxy of the environment gets the name, and connects itself", async () => {
  for (const variable of ["HTTPS_PROXY", "all_proxy"]) {
    using proxy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const asked = ask(["http://127.0.0.1/mcp", "https://t.localhost/"], {
      [variable]: `http://127.0.0.1:${proxy.addr.port}`,
      NO_PROXY: "<-loopback>",
    });
    const connection = await proxy.accept();
    const bytes = new Uint8Array(1_024);
    const count = await connection.read(bytes) ?? 0;
    connection.close();
    assertStringIncludes(
      new TextDecoder().decode(bytes.subarray(0, count)),
      "CONNECT t.localhost:443",
      variable,
    );
    assertMatch(await asked, /not reachable/);
  }
});

Deno.test({
  name:
    "a request to a checked address has the name in TLS and in the request, and needs no further permission",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.makeTempDir();
    const { certFile, keyFile } = await makeCertificate(folder, { host: "auth.example" });
    const [cert, key] = [Deno.readTextFileSync(certFile), Deno.readTextFileSync(keyFile)];
    const methods: string[] = [];
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", cert, key, onListen() {} },
      async (request) => {
        methods.push(request.method);
        return Response.json({ url: request.url, body: await request.text() });
      },
    );
    try {
      const { port } = server.addr;
      const [auth, other] = [`https://auth.example:${port}`, `https://other.example:${port}`];
      const home = "http://127.0.0.1/mcp";
      const pairs = [home, `${auth}/token`, home, other, `${auth}/mcp`, other, other, auth];
      const printed = await ask(pairs, { NODE_EXTRA_CA_CERTS: certFile });
      const [own = "{}", wrong = "", wrongToo = "", forbidden = ""] = printed.split("\n");
      assertEquals(JSON.parse(own), { url: `${auth}/token`, body: "a=b" });
      for (const answer of [wrong, wrongToo]) assertMatch(answer, /not reachable .*not match certificate/);
      // An MCP server counts as private where its certificate proves that it is there.
      assertMatch(forbidden, /other\.example.* named it/);
      assertEquals(methods, ["POST", "HEAD"]);
    } finally {
      await server.shutdown();
      await Deno.remove(folder, { recursive: true });
    }
  },
});
