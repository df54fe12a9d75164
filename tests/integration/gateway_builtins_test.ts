/** The gateway's own tools and prompts, for clients that know nothing else. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { KIOSK_HOST, KIOSK_WINDOW } from "../fixtures/kiosk.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { connectV1, GatewayOffice } from "./_gateway_office.ts";

// The transports of the official clients wait with a timer for the end of a program, and leave it behind.
const test = (name: string, fn: (t: Deno.TestContext) => Promise<void>) => Deno.test({ name, fn });

const KIOSK = { servers: { kiosk: kioskOnStdio() } };
const MENU = `dpe://${KIOSK_HOST}/menu.txt`;
const OWN = ["list_computers", "view_desktop", "find_documents", "read_document"];

interface Result {
  readonly content: { readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
}

const fenced = (text: string) => `\`\`\`\n${text}\n\`\`\``;

type Client = Awaited<ReturnType<typeof connectV1>>;

/** Calls a tool of the gateway. */
async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Result> {
  return await client.callTool({ name, arguments: args }) as Result;
}

const textOf = ({ content }: Result) => content.map(({ text }) => text).join("\n");

test("tools for clients that know nothing but tools", async (t) => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  await using client = await connectV1(office.words());
  const { tools } = await client.listTools();
  assertEquals(tools.slice(0, OWN.length).map(({ name }: { name: string }) => name), OWN);

  await t.step("list_computers", async () => {
    const result = await call(client, "list_computers");
    assertMatch(
      textOf(result),
      /^Computer "laptop": \d+ tools\n {2}- kiosk \(Kiosk\), running: "Order drinks/,
    );
    assertEquals(result.structuredContent?.["office"], "lab");
  });
  await t.step("view_desktop", async () => {
    const all = await call(client, "view_desktop");
    assertEquals(textOf(all), `# ${KIOSK_WINDOW} on Computer "laptop"\n\n${fenced("Welcome")}`);
    const none = await call(client, "view_desktop", { window: "window://com.example.kiosk/other" });
    assertMatch(textOf(none), /is open/);
  });
  await t.step("find_documents", async () => {
    const found = await call(client, "find_documents", { keywords: ["menu"] });
    assertEquals(textOf(found), `- menu.txt: ${MENU} (txt, 1 page, Computer "laptop")`);
    assertEquals(found.structuredContent?.["total_count"], 1);
    assertMatch(textOf(await call(client, "find_documents", { keywords: ["nothing"] })), /No document fits/);
  });
  await t.step("read_document: whole, a page, an element, as JSON", async () => {
    const text = fenced("Tea and coffee");
    const whole = `# menu.txt\n\n1 page, txt, ${MENU}, on Computer "laptop"\n\n${text}`;
    assertEquals(textOf(await call(client, "read_document", { uri: MENU })), whole);
    assertEquals(textOf(await call(client, "read_document", { uri: MENU, pages: "0-0" })), whole);
    assertEquals(textOf(await call(client, "read_document", { uri: `${MENU}/pages/0` })), whole);
    const page = textOf(await call(client, "read_document", { uri: MENU, format: "json" }));
    const [, id = ""] = /"element_id":"([^"]+)"/.exec(page) ?? [];
    const element = await call(client, "read_document", { uri: MENU, element: id });
    assertEquals(textOf(element), text);
  });
  await t.step("bad arguments are told", async () => {
    const wrong = async (name: string, args: Record<string, unknown>, what: RegExp) => {
      const result = await call(client, name, args);
      assertEquals(result.isError, true);
      assertMatch(textOf(result), what);
    };
    await wrong("read_document", {}, /"uri" is missing/);
    await wrong("read_document", { uri: "menu.txt" }, /find_documents lists it/);
    await wrong("read_document", { uri: MENU, pages: "last" }, /write indices from 0/);
    await wrong("read_document", { uri: MENU, format: "pdf" }, /one of json, markdown, text/);
    await wrong("read_document", { uri: `${MENU}x` }, /Document not found|does not exist|4201|not found/i);
    await wrong("view_desktop", { computer: "desk" }, /Computers: laptop/);
    await wrong("view_desktop", { screen: 1 }, /"screen" is unknown/);
    await wrong("find_documents", { limit: 0 }, /whole number from 1 to 100/);
  });
});

test("several Computers with one host: the tools serve all, and ask which is meant", async () => {
  await using office = await GatewayOffice.open({ laptop: KIOSK, desk: KIOSK });
  await using client = await connectV1(office.words());
  const { content } = await call(client, "view_desktop");
  assertEquals(content.map(({ text }) => /on Computer "(\w+)"/.exec(text)?.[1]), ["desk", "laptop"]);
  const unclear = await call(client, "read_document", { uri: MENU });
  assertMatch(textOf(unclear), /Several Computers have .* "desk", "laptop"\. Choose one/);
  const chosen = await call(client, "read_document", { uri: MENU, computer: "desk" });
  assertMatch(textOf(chosen), /Tea and coffee/);
  const window = await call(client, "view_desktop", { window: `a2c://laptop/${KIOSK_WINDOW}` });
  assertEquals(textOf(window), `# ${KIOSK_WINDOW} on Computer "laptop"\n\n${fenced("Welcome")}`);
  const named = await call(client, "read_document", { uri: `a2c://laptop/${MENU}` });
  assertMatch(textOf(named), /on Computer "laptop"/);
});

test("--no-builtin-tools leaves them out", async () => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  await using client = await connectV1(office.words(["--no-builtin-tools"]));
  const names = (await client.listTools()).tools.map(({ name }: { name: string }) => name);
  assertEquals(names.filter((name: string) => OWN.includes(name)), []);
});

test("prompts attach windows and documents, and complete their arguments", async () => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  await using client = await connectV1(office.words());
  const desktop = await client.getPrompt({ name: "attach_desktop" });
  assertEquals(desktop.messages, [{
    role: "user",
    content: { type: "text", text: `# ${KIOSK_WINDOW} on Computer "laptop"\n\n${fenced("Welcome")}` },
  }]);
  const document = await client.getPrompt({ name: "attach_document", arguments: { uri: MENU } });
  assertMatch(JSON.stringify(document.messages), /Tea and coffee/);
  await assertRejects(() => client.getPrompt({ name: "attach_document" }), Error, '"uri" is missing');
  const complete = async (name: string, value: string) => {
    const ref = { type: "ref/prompt" as const, name: "attach_document" };
    return (await client.complete({ ref, argument: { name, value } })).completion.values;
  };
  assertEquals(await complete("computer", "la"), ["laptop"]);
  assertEquals(await complete("uri", "menu"), [MENU]);
});
