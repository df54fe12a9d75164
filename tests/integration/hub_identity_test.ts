/** The hub as a program that admits clients of an identity provider. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { assertEquals, assertRejects } from "@std/assert";
import { Computer } from "../../src/computer/computer.ts";
import { doorWords } from "../fixtures/door.ts";
import { HttpDoor, untilOffered } from "../fixtures/http_door.ts";
import { IdentityProvider, SignedInPerson } from "../fixtures/identity_provider.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";

Deno.test({
  name: "a hub admits clients of an identity provider to their office, and tells others nothing of offices",
  async fn() {
    await using identity = await IdentityProvider.open({ claims: { a2c_offices: ["lab"] } });
    const words = ["--port", "0", "--token", "member", "--oauth-issuer", identity.issuer];
    await using hub = await HttpDoor.start(doorWords("hub.ts", words));
    await using computer = Computer.open({ name: "laptop", config: { servers: { kiosk: kioskOnStdio() } } });
    await computer.join({ url: hub.url.origin, office: "lab", token: "member" });
    await computer.ready();
    const person = new SignedInPerson();
    const connect = async () => {
      const transport = new StreamableHTTPClientTransport(hub.at("/mcp/o/lab"), { authProvider: person });
      const client = new Client({ name: "v1", version: "1" });
      await client.connect(transport);
      return client;
    };
    await assertRejects(connect, UnauthorizedError);
    const signing = new StreamableHTTPClientTransport(hub.at("/mcp/o/lab"), { authProvider: person });
    await signing.finishAuth(await person.code());
    const client = await connect();
    await untilOffered(client, "echo");
    const { content } = await client.callTool({ name: "echo", arguments: { text: "hi" } });
    assertEquals(content, [{ type: "text", text: "hi" }]);
    await client.close();

    const seen = async (office: string) => {
      const all: unknown[] = [];
      for (const path of [`/mcp/o/${office}`, `/.well-known/oauth-protected-resource/mcp/o/${office}`]) {
        const response = await fetch(hub.at(path));
        const challenge = response.headers.get("www-authenticate");
        all.push([response.status, challenge, await response.text()]);
      }
      return JSON.stringify(all).replaceAll(office, "OFFICE");
    };
    assertEquals(await seen("lab"), await seen("nowhere"));
  },
});
