/** Servers of MCP 2026-07-28, which has no sessions: version 2 of the SDK on stdio and over HTTP, through the whole chain. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { kioskCommand, kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { KioskHttp } from "../fixtures/kiosk_http.ts";
import { ComputerOffice } from "./_computer_office.ts";

/** The kiosk of 2026-07-28 over one transport. */
class OpenKiosk implements AsyncDisposable {
  readonly config: Record<string, unknown>;
  readonly #http: KioskHttp | undefined;

  constructor(transport: "stdio" | "http") {
    this.#http = transport === "http" ? new KioskHttp({ serves: "2026" }) : undefined;
    this.config = this.#http?.config() ??
      kioskOnStdio({ mcp_version: "2026", server_parameters: kioskCommand("2026") });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http?.[Symbol.asyncDispose]();
  }
}

function textOf({ content }: { readonly content: readonly { readonly text?: string }[] }): string {
  return content[0]?.text ?? "";
}

for (const transport of ["stdio", "http"] as const) {
  Deno.test(`a server of 2026-07-28 on ${transport} lists its tools and answers calls`, async () => {
    await using kiosk = new OpenKiosk(transport);
    await using office = await ComputerOffice.open({ servers: { kiosk: kiosk.config } });
    const { laptop, computer } = office;
    assertEquals(computer.servers.get("kiosk")?.status, "running");
    const tools = await laptop.getTools();
    assert(tools.some(({ name }) => name === "echo"), JSON.stringify(tools.map(({ name }) => name)));
    assertEquals(textOf(await laptop.callTool("echo", { text: "grüß dich 😀" })), "grüß dich 😀");
    assertEquals((await laptop.callTool("fail")).isError, true);
  });

  Deno.test(`windows and documents of a server of 2026-07-28 on ${transport} arrive and change live`, async () => {
    await using kiosk = new OpenKiosk(transport);
    await using office = await ComputerOffice.open({ servers: { kiosk: kiosk.config } });
    const { laptop } = office;
    const texts = async () => (await laptop.getDesktop()).join("\n");
    assertStringIncludes(await texts(), "Welcome");
    const changed = office.next("updateDesktop");
    await laptop.callTool("show", { text: "Milk is out" });
    await changed;
    assertStringIncludes(await texts(), "Milk is out");
    const hasNewDocument = office.next("updateFinder");
    await laptop.callTool("write", { name: "prices.txt", text: "Tea 2" });
    await hasNewDocument;
    assertStringIncludes(JSON.stringify(await laptop.getFinder()), "prices.txt");
  });

  Deno.test(`a new tool of a server of 2026-07-28 on ${transport} arrives by itself`, async () => {
    await using kiosk = new OpenKiosk(transport);
    await using office = await ComputerOffice.open({ servers: { kiosk: kiosk.config } });
    const names = async () => (await office.laptop.getTools()).map(({ name }) => name);
    assertEquals((await names()).includes("special"), false);
    const changed = office.next("updateToolList");
    await office.laptop.callTool("add_special");
    await changed;
    assertEquals((await names()).includes("special"), true);
    assertEquals(textOf(await office.laptop.callTool("special")), "cocoa");
  });
}
