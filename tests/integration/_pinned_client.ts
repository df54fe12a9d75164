/** Asks a host that an MCP server has named, for each pair of arguments; all names are at 127.0.0.1. Prints the answers. */
import { createOAuthFetch } from "../../src/mcp/auth/oauth_fetch.ts";

for (let index = 0; index < Deno.args.length; index += 2) {
  const [server = "", target = ""] = Deno.args.slice(index);
  const resolve = () => Promise.resolve(["::1", "127.0.0.1"]);
  const fetch = createOAuthFetch({ resource: new URL(server), issuer: undefined, resolve });
  const asked = fetch(target, { method: "POST", body: new URLSearchParams({ a: "b" }) });
  console.log(await asked.then((response) => response.text(), (error) => error.message));
}
