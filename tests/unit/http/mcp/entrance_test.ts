import { assertEquals } from "@std/assert";
import { Entrance } from "../../../../src/http/mcp/entrance.ts";

/** Without a path. */
function openEntrance(): Entrance {
  const routes = { names: "/mcp", find: () => undefined, close: () => Promise.resolve() };
  return new Entrance(routes, { allowedOrigins: ["https://app.example"] });
}

Deno.test("a page of another site is refused also where its browser sends no Origin", async () => {
  await using entrance = openEntrance();
  const statusOf = async (headers: Record<string, string>) => {
    const response = await entrance.fetch(new Request("http://localhost:4000/healthz", { headers }));
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await statusOf({ "sec-fetch-site": "cross-site" }), 403);
  assertEquals(await statusOf({ "sec-fetch-site": "cross-site", origin: "https://app.example" }), 200);
  // An address that somebody has typed.
  assertEquals(await statusOf({ "sec-fetch-site": "none" }), 200);
});
