/** The hub's authorization server under the scenarios of the public conformance suite, with a person who consents. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { RunningDoor } from "../fixtures/door.ts";
import { HubBrowser, HubClient } from "../fixtures/hub_client.ts";
import { HubDoor } from "../fixtures/hub_door.ts";
import { run, SUITE } from "./_suite.ts";

Deno.test("the authorization scenarios of the public conformance suite pass at the hub", async () => {
  await using hub = await HubDoor.open();
  const port = freePort();
  const client = await HubClient.register(hub.url, { redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  const words = ["authorization", "--url", hub.url, "--client-id", client.id, "--port", String(port)];
  words.push("--resource", hub.resource("lab"));
  await using suite = new RunningDoor([Deno.execPath(), ...run, SUITE, ...words]);
  await suite.said("Callback server started");
  const [page = ""] = /^http\S+\/oauth\/authorize\S+$/m.exec(suite.stdout.text) ?? [];

  const browser = new HubBrowser();
  const asked = await browser.open(page);
  await browser.submit(asked.url, { step: "prove", code: hub.invite("lab") });
  const { url } = await browser.submit(asked.url, { step: "allow", rights: "call" });
  await (await fetch(url)).body?.cancel();

  const { code, stdout, stderr } = await suite.end();
  assertEquals(code, 0, stdout + stderr);
  assertStringIncludes(stdout, "0 failed");
});

/** The suite wants to be told at which port it listens. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
