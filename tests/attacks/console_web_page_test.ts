/** Attacker: a web page, also one of another port of the machine, or that of an MCP App. The owner's browser runs it beside the owner's page */
import { assert, assertEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { Chromium, hasChromium } from "../fixtures/chromium.ts";
import { within } from "../fixtures/within.ts";
import { AttackedConsole, WANTED } from "./_console.ts";
import { exchange } from "./_raw_http.ts";

const JSON_TYPE = { "Content-Type": "application/json" };

/** What browsers send for pages that are not the owner's. */
function foreignSenders(port: number): Record<string, Record<string, string>> {
  return {
    "a page of a site": { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" },
    "a page of another port": { Origin: "http://127.0.0.1:9", "Sec-Fetch-Site": "same-site" },
    "a page of another name of this machine": {
      Origin: `http://localhost:${port}`,
      "Sec-Fetch-Site": "cross-site",
    },
    "the page of an MCP App": { Origin: "null", "Sec-Fetch-Site": "cross-site" },
    "an element of a page": { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "script" },
    "a frame": { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe" },
    "a page whose name leads here now": { Host: `evil.example:${port}` },
    "a page whose name leads here now, with itself as the origin": {
      Host: `evil.example:${port}`,
      Origin: `http://evil.example:${port}`,
      "Sec-Fetch-Site": "same-origin",
    },
  };
}

Deno.test("A page of another origin is refused everywhere, even if it knew the token", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using attacked = await AttackedConsole.open(server);
  const { port, client: { token } } = attacked;
  const authorization = { Authorization: `Bearer ${token}`, ...JSON_TYPE };
  const targets = [
    ...WANTED,
    ...["/", "/owner.js", "/style.css"].map((target) => ({ method: "GET", target })),
  ];
  for (const [sender, headers] of Object.entries(foreignSenders(port))) {
    for (const request of [...targets, { method: "OPTIONS", target: "/api/call" }]) {
      const { status, head } = await exchange(port, {
        ...request,
        headers: { ...authorization, ...headers },
      });
      assertEquals(status, 403, `${sender}: ${JSON.stringify(request)}`);
      assert(!/access-control-allow/i.test(head), head);
      assert(/^cache-control: no-store\r?$/im.test(head), head);
    }
  }
  await attacked.assertUntouched();
});

Deno.test("A link of another site leads to the page, and to nothing else", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using attacked = await AttackedConsole.open(server);
  const { port, client: { token } } = attacked;
  const link = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };
  assertEquals((await exchange(port, { target: "/", headers: link })).status, 200);
  const others = [
    ...WANTED,
    { method: "GET", target: "/owner.js" },
    { method: "POST", target: "/", body: "a=b" },
  ];
  for (const request of others) {
    const headers = { ...link, Authorization: `Bearer ${token}`, ...JSON_TYPE };
    assertEquals((await exchange(port, { ...request, headers })).status, 403, JSON.stringify(request));
  }
  await attacked.assertUntouched();
});

Deno.test("What a form can send is no request of the API, even with the token", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using attacked = await AttackedConsole.open(server);
  const { port, client: { token } } = attacked;
  const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""];
  for (const type of [...types, "text/plain; application/json", "application/jsonx"]) {
    const { status } = await exchange(port, {
      method: "POST",
      target: "/api/call",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": type },
      body: '{"arguments":["mark"]}',
    });
    assertEquals(status, 415, type);
  }
  await attacked.assertUntouched();
});

/** Tries what a page can, and gives what it learned. */
const ATTACK = `async (target) => {
  const learned = [];
  const tell = (how) => learned.push(how);
  for (const path of ["/", "/owner.js", "/api", "/api/status", "/api/events"]) {
    await fetch(target + path).then((r) => r.text()).then(() => tell("fetch " + path), () => {});
    await fetch(target + path, { mode: "no-cors" }).then((r) => r.type !== "opaque" && tell("no-cors " + path), () => {});
  }
  const body = JSON.stringify({ arguments: ["mark"] });
  for (const type of ["text/plain", "application/json"]) {
    const init = { method: "POST", body, headers: { "content-type": type } };
    await fetch(target + "/api/call", init).then(() => tell("post"), () => {});
  }
  const loads = (element, attribute) => new Promise((resolve) => {
    element.onload = () => resolve(true);
    element.onerror = () => resolve(false);
    element[attribute] = target + (attribute === "href" ? "/style.css" : "/owner.js");
    document.head.append(element);
  });
  if (await loads(document.createElement("script"), "src")) tell("script");
  if (await loads(Object.assign(document.createElement("link"), { rel: "stylesheet" }), "href")) tell("style");
  const frame = document.createElement("iframe");
  frame.src = target + "/";
  const framed = new Promise((resolve) => frame.onload = resolve);
  document.body.append(frame);
  await framed;
  try { if (frame.contentDocument?.body?.innerText) tell("frame"); } catch {}
  const opened = window.open(target + "/#" + "x".repeat(43));
  // The owner's page cuts the tie to its opener, which then seems closed.
  for (let n = 0; n < 100 && opened !== null && !opened.closed; n++) await new Promise((resolve) => setTimeout(resolve, 20));
  try { if (opened !== null && !opened.closed && opened.document.body) tell("window"); } catch {}
  return learned.join(", ");
}`;

Deno.test({
  name: "A page that a browser runs from another port of the machine learns nothing and runs nothing",
  ignore: !hasChromium,
  async fn() {
    await using server = await SmcpServer.listen({ port: 0 });
    await using attacked = await AttackedConsole.open(server);
    const page = () =>
      new Response("<!doctype html><title>evil</title><p>evil", { headers: { "content-type": "text/html" } });
    await using evil = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, page);
    await using browser = await Chromium.open("--disable-popup-blocking");
    for (const host of ["127.0.0.1", "localhost"]) {
      await browser.goTo(`http://${host}:${evil.addr.port}/`);
      await browser.textWith("evil");
      const learned = browser.run(`(${ATTACK})(${JSON.stringify(attacked.client.origin)})`);
      assertEquals(await within(learned, "the end of the attack"), "");
    }
    await attacked.assertUntouched();
  },
});

/** The same from a frame without an origin, as hosts show the page of an MCP App. */
const APP_ATTACK = `(target) => new Promise((resolve) => {
  addEventListener("message", ({ data }) => resolve(data));
  const app = document.createElement("iframe");
  app.sandbox = "allow-scripts allow-popups allow-forms";
  app.srcdoc = "<body><script>(" + ${JSON.stringify(ATTACK)} + ")(" + JSON.stringify(target) +
    ").then((learned) => parent.postMessage(learned, '*'), (error) => parent.postMessage(String(error), '*'))</" + "script>";
  document.body.append(app);
})`;

Deno.test({
  name: "The page of an MCP App learns nothing and runs nothing",
  ignore: !hasChromium,
  async fn() {
    await using server = await SmcpServer.listen({ port: 0 });
    await using attacked = await AttackedConsole.open(server);
    const page = () => new Response("<!doctype html><p>host", { headers: { "content-type": "text/html" } });
    await using host = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, page);
    await using browser = await Chromium.open("--disable-popup-blocking");
    await browser.goTo(`http://127.0.0.1:${host.addr.port}/`);
    await browser.textWith("host");
    const learned = browser.run(`(${APP_ATTACK})(${JSON.stringify(attacked.client.origin)})`);
    assertEquals(await within(learned, "the end of the attack"), "");
    await attacked.assertUntouched();
  },
});

Deno.test({
  name: "The owner's page runs no script of others, tells no other place, and has no token in its address",
  ignore: !hasChromium,
  async fn() {
    await using server = await SmcpServer.listen({ port: 0 });
    await using attacked = await AttackedConsole.open(server);
    const { client } = attacked;
    const asked: string[] = [];
    const answer = ({ url }: Request) => {
      asked.push(url);
      return new Response("window.isEvil = true", { headers: { "access-control-allow-origin": "*" } });
    };
    await using evil = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, answer);
    await using browser = await Chromium.open();
    await browser.goTo(`${client.origin}/#${client.token}`);
    await browser.textWith("laptop");
    const address = String(await browser.evaluate("location.href"));
    assert(!address.includes(client.token), address);
    const target = `http://127.0.0.1:${evil.addr.port}/`;
    const isEvil = await browser.run(`(async () => {
      const add = (html) => document.body.insertAdjacentHTML("beforeend", html);
      add('<img src="x" onerror="window.isEvil = true"><img src="${target}"><iframe srcdoc="<script>parent.isEvil = true</script>"></iframe>');
      add('<style>body { background: url(${target}) }</style><form action="${target}"><button id="send"></button></form>');
      for (const text of ["window.isEvil = true", ""]) {
        document.head.append(Object.assign(document.createElement("script"), text ? { text } : { src: "${target}" }));
      }
      document.getElementById("send").click();
      await fetch("${target}").catch(() => {});
      return window.isEvil === true;
    })()`);
    assertEquals([isEvil, asked], [false, []]);
  },
});
