// A person signs in at an MCP server in a real browser, at an authorization server that nobody of this project wrote.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { Chromium, hasChromium } from "../fixtures/chromium.ts";
import { startDoor } from "../fixtures/door.ts";
import { ProtectedServer } from "../fixtures/protected_server.ts";
import { Workplace } from "../integration/_computer_program.ts";

Deno.test({
  name: "auth login waits for the browser, whose page says that the person is signed in; a call then works",
  ignore: !hasChromium,
  async fn() {
    await using server = await ProtectedServer.open();
    using place = new Workplace();
    const config = place.write("mcp.json", server.config());
    await using login = startDoor("computer.ts", ["auth", "login", "guarded", "--config", config], {
      env: place.env,
    });
    await login.said("address that it shows");
    const [url = ""] = /^http\S+$/m.exec(login.stdout.text) ?? [];

    await using browser = await Chromium.open();
    await browser.goTo(url);
    await browser.type("input[name=login]", "ada");
    await browser.type("input[name=password]", "secret");
    await browser.click("button[type=submit]");
    await browser.textWith("Continue");
    await browser.click("button[type=submit]");
    const page = await browser.textWith("You are signed in");
    assertStringIncludes(page, "guarded");

    const { code, stdout } = await login.end();
    assertEquals(code, 0);
    assertStringIncludes(stdout, 'signed in at MCP server "guarded"');
    const call = await place.run(["call", "echo", "--config", config]);
    assertStringIncludes(call.stdout, '"name":"echo"', call.stderr);
  },
});
