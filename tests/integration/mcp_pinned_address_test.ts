/** Requests of a sign-in with TLS: the connection goes to a checked address, and the certificate is that of the name. */
import { assertEquals, assertMatch } from "@std/assert";
import { makeCertificate } from "./_tls_server.ts";

Deno.test({
  name:
    "a request to a checked address has the name in TLS and in the request, and needs the documented permissions only",
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
      const flags = ["--allow-net", "--allow-env", "--allow-read", "--no-prompt"];
      const program = new URL("_pinned_client.ts", import.meta.url).pathname;
      const [auth, other] = [`https://auth.example:${port}`, `https://other.example:${port}`];
      const pairs = [
        "http://127.0.0.1/mcp",
        `${auth}/token`,
        "http://127.0.0.1/mcp",
        other,
        `${auth}/mcp`,
        other,
        other,
        auth,
      ];
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-check", ...flags, program, ...pairs],
        env: { NODE_EXTRA_CA_CERTS: certFile, HTTPS_PROXY: "", https_proxy: "" },
      }).output();
      const [own = "{}", wrong = "", wrongToo = "", forbidden = ""] = new TextDecoder().decode(stdout).split(
        "\n",
      );
      assertEquals(JSON.parse(own), { url: `${auth}/token`, body: "a=b" }, new TextDecoder().decode(stderr));
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
