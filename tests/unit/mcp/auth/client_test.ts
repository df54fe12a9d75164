import { assertEquals, assertRejects } from "@std/assert";
import { authenticationOf, chooseClient } from "../../../../src/mcp/auth/client.ts";
import { SignInError } from "../../../../src/mcp/errors.ts";

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

Deno.test("a metadata document is used where answers say who they are from, or where the issuer is configured", async () => {
  const issuer = "https://auth.example";
  const clientMetadataUrl = "https://me.example/client.json";
  const registration_endpoint = `${issuer}/register`;
  const told = { authorization_response_iss_parameter_supported: true };
  const choose = (metadata: Record<string, unknown>, config: { readonly issuer?: string } = {}) =>
    chooseClient({
      as: {
        metadata: { issuer, client_id_metadata_document_supported: true, ...metadata },
        clockSkewSeconds: 0,
      },
      config: { clientMetadataUrl, ...config },
      fetch: () => Promise.resolve(Response.json({ client_id: "registered" }, { status: 201 })),
      signal: undefined,
    }, { redirectUri: "http://127.0.0.1:1/callback", grantTypes: [] });
  assertEquals((await choose({ registration_endpoint, ...told })).clientId, clientMetadataUrl);
  assertEquals((await choose({ registration_endpoint }, { issuer })).clientId, clientMetadataUrl);
  assertEquals((await choose({ registration_endpoint })).clientId, "registered");
  await assertRejects(() => choose({}), SignInError, `set "issuer": "${issuer}"`);
});
