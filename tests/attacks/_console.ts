/** A Computer that runs as a program with its page open, and what attackers try on its port. */
import { assertEquals } from "@std/assert";
import type { SmcpServer } from "../../server.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { Workplace } from "../integration/_computer_program.ts";
import { ConsoleClient } from "../integration/_console.ts";

/** The page of a Computer, whose tool `mark` runs unasked. */
export class AttackedConsole implements AsyncDisposable {
  readonly client: ConsoleClient;
  readonly place: Workplace;
  readonly #end: () => Promise<void>;

  private constructor(place: Workplace, link: string, end: () => Promise<void>) {
    this.place = place;
    this.client = new ConsoleClient(link);
    this.#end = end;
  }

  static async open(server: SmcpServer): Promise<AttackedConsole> {
    const place = new Workplace();
    const config = place.write("config.json", scriptedServers({ box: { tools: [{ name: "mark" }] } }));
    const address = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config];
    const computer = await place.serveAlone([...address, "--console"]);
    const [link = ""] = /^http:\S+$/m.exec(computer.stdout.text) ?? [];
    return new AttackedConsole(place, link, () => computer[Symbol.asyncDispose]());
  }

  get port(): number {
    return this.client.port;
  }

  /** Checks that nothing was called, and that the owner is still served. */
  async assertUntouched(): Promise<void> {
    const { status, body } = await this.client.get("/api/history");
    assertEquals([status, body], [200, { history: [] }]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
    this.place[Symbol.dispose]();
  }
}

/** The requests that would give something to somebody without the token. */
export const WANTED: readonly { readonly method: string; readonly target: string; readonly body?: string }[] =
  [
    { method: "GET", target: "/api" },
    { method: "GET", target: "/api/status" },
    { method: "GET", target: "/api/events" },
    { method: "GET", target: "/api/nothing" },
    { method: "POST", target: "/api/call", body: '{"arguments":["mark"]}' },
    { method: "POST", target: "/api/quit", body: "{}" },
  ];
