// A person connects a client to a hub in a real browser. With PICTURES=FOLDER in the environment, the pages are kept as pictures.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { Chromium, hasChromium } from "../fixtures/chromium.ts";
import { HubClient, tokensOf } from "../fixtures/hub_client.ts";
import { HubDoor } from "../fixtures/hub_door.ts";
import { eventually } from "../fixtures/within.ts";

/** Where a program on this machine waits for the browser. */
class Callback implements AsyncDisposable {
  readonly arrived = Promise.withResolvers<URL>();
  readonly #http = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    const url = new URL(request.url);
    if (url.pathname === "/callback") this.arrived.resolve(url);
    return new Response("You can close this page");
  });

  get url(): string {
    return `http://127.0.0.1:${this.#http.addr.port}/callback`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http.shutdown();
  }
}

const operator = (token: string) =>
  Promise.resolve(token === "s3cret" ? { name: "root", offices: "all" as const } : undefined);

async function keep(browser: Chromium, name: string): Promise<void> {
  const folder = Deno.env.get("PICTURES");
  if (folder !== undefined) await Deno.writeFile(join(folder, `${name}.png`), await browser.picture());
}

/** What the person would not see, or could not read. */
async function flawsOf(browser: Chromium): Promise<unknown> {
  return await browser.run(`(async () => {
    const flaws = [];
    if (document.documentElement.scrollWidth > innerWidth) flaws.push("wider than the screen");
    if (document.documentElement.lang === "" || document.title === "") flaws.push("no language or title");
    if (document.querySelectorAll("main").length !== 1 || document.querySelectorAll("h1").length !== 1) flaws.push("landmarks");
    for (const field of document.querySelectorAll("input")) {
      if (field.labels.length !== 1 || field.labels[0].textContent.trim() === "") flaws.push("no label: " + field.name);
    }
    for (const group of document.querySelectorAll("fieldset")) {
      if (group.querySelector("legend") === null) flaws.push("no legend");
    }
    const light = (color) => {
      const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((each) => {
        const share = each / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
      const color = getComputedStyle(element).backgroundColor;
      return color === "rgba(0, 0, 0, 0)" && element.parentElement ? ground(element.parentElement) : color;
    };
    for (const element of document.querySelectorAll("h1, h2, p, dt, dd, label, legend, button, summary, input")) {
      const [a, b] = [light(getComputedStyle(element).color), light(ground(element))].sort((x, y) => y - x);
      const contrast = (a + 0.05) / (b + 0.05);
      if (contrast < 4.5) flaws.push(element.tagName + " has a contrast of " + contrast.toFixed(1));
    }
    for (const button of document.querySelectorAll("button")) {
      if (button.getBoundingClientRect().height < 44) flaws.push("a button is too small for a finger");
    }
    return flaws;
  })()`);
}

for (
  const { width, scheme } of [
    { width: 360, scheme: "light" },
    { width: 360, scheme: "dark" },
    { width: 1280, scheme: "light" },
    { width: 1280, scheme: "dark" },
  ] as const
) {
  Deno.test({
    name: `a person connects a client with the keyboard alone, ${width} px wide and ${scheme}`,
    ignore: !hasChromium,
    async fn() {
      await using hub = await HubDoor.open({ operator });
      await using callback = new Callback();
      const client = await HubClient.register(hub.url, {
        client_name: "Claude Code",
        redirect_uris: [callback.url],
      });
      const code = hub.invite("lab");
      await using browser = await Chromium.open();
      await browser.showAs({ width, scheme });
      await browser.goTo(await client.page(hub.resource("lab"), { redirect_uri: callback.url }));
      assertStringIncludes(await browser.textWith("Invitation code"), "a program on this machine");
      assertEquals(await flawsOf(browser), []);
      await keep(browser, `prove-${width}-${scheme}`);

      await browser.press("Tab");
      await browser.insert("wrong");
      await browser.press("Enter");
      await browser.textWith("This code or token is wrong");
      assertEquals(await flawsOf(browser), []);
      await keep(browser, `wrong-${width}-${scheme}`);

      await browser.press("Tab");
      await browser.insert(code.toLowerCase());
      await browser.press("Enter");
      const asked = await browser.textWith("What may");
      assertStringIncludes(asked, "laptop, phone");
      assertStringIncludes(asked, "Claude Code");
      assertEquals(await flawsOf(browser), []);
      await keep(browser, `consent-${width}-${scheme}`);

      const chosen = () => browser.evaluate("document.querySelector('input:checked').value");
      assertEquals(await chosen(), "confirm");
      await browser.press("Tab");
      await browser.press("ArrowDown");
      await eventually(chosen, (value) => value === "call", "the choice of all rights");
      await browser.press("Tab");
      await browser.press("Space");
      const redirect = await callback.arrived.promise;
      const answer = await client.exchange(redirect, { redirect_uri: callback.url });
      const { access } = await tokensOf(answer);
      assertEquals(hub.server.verify(access, hub.resource("lab"))?.rights, "call");
    },
  });
}

Deno.test({
  name: "a page that cannot send the client an error says what to do, and offices are chosen one by one",
  ignore: !hasChromium,
  async fn() {
    await using hub = await HubDoor.open({ operator });
    await using browser = await Chromium.open();
    await browser.showAs({ width: 360, scheme: "dark" });
    await browser.goTo(await HubClient.of(hub.url, "nobody").page(hub.resource("lab")));
    await browser.textWith("Connect the client again");
    assertEquals(await flawsOf(browser), []);
    await keep(browser, "problem-360-dark");

    const client = await HubClient.register(hub.url);
    await browser.goTo(await client.page(`${hub.url}/mcp`));
    await browser.type("input[name=code]", hub.invite("lab", "a workshop with a long name", "<b>office</b>"));
    await browser.click("button[value=prove]");
    assertStringIncludes(await browser.textWith("Offices"), "<b>office</b>");
    assertEquals(await flawsOf(browser), []);
    await keep(browser, "offices-360-dark");
    await browser.evaluate(
      "document.querySelectorAll('input[name=office]').forEach((each) => each.checked = false)",
    );
    await browser.click("button[value=allow]");
    await browser.textWith("Choose at least one office");
    assert(await browser.evaluate("document.querySelector('[role=alert]') !== null"));
  },
});
