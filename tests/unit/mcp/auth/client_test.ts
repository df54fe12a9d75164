import { assertEquals } from "@std/assert";
import { authenticationOf } from "../../../../src/mcp/auth/client.ts";

const AUTHORIZATION_SERVER = { issuer: "https://login.example.com" };

/** The `Authorization` header that a registered client authenticates with. */
async function basicOf(clientId: string, clientSecret: string): Promise<string> {
  const client = { clientId, clientSecret, authMethod: "client_secret_basic", source: "registered" } as const;
  const as = { metadata: AUTHORIZATION_SERVER, clockSkewSeconds: 0 };
  const authenticate = await authenticationOf(client, { as, config: {} });
  const headers = new Headers();
  await authenticate(AUTHORIZATION_SERVER, { client_id: clientId }, new URLSearchParams(), headers);
  const [scheme, credentials = ""] = (headers.get("authorization") ?? "").split(" ");
  assertEquals(scheme, "Basic");
  return new TextDecoder().decode(Uint8Array.fromBase64(credentials));
}

Deno.test("an id and a secret of plain characters are sent as they are, also to servers that decode nothing", async () => {
  assertEquals(await basicOf("my-client_1.0", "s3cr3t-A_z.*"), "my-client_1.0:s3cr3t-A_z.*");
});

Deno.test("other characters of an id and a secret are encoded as in a form, so that a colon divides them", async () => {
  assertEquals(
    await basicOf("https://a.example/b", "p:ß +%"),
    "https%3A%2F%2Fa.example%2Fb:p%3A%C3%9F+%2B%25",
  );
});
