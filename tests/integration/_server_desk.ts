/** A Server as a program, and the commands of its operator. */
import { assertEquals } from "@std/assert";
import { runHosted, startHosted } from "../fixtures/hosted_door.ts";

/** A Server as a program, with a folder of control sockets that commands of the test use as well. */
export class ServerDesk implements AsyncDisposable {
  readonly #env: Record<string, string>;
  readonly #servers: ReturnType<typeof startHosted>[] = [];
  readonly #folder: string;

  constructor() {
    this.#folder = Deno.makeTempDirSync();
    this.#env = { XDG_RUNTIME_DIR: this.#folder, NO_COLOR: "1" };
  }

  async serve(...args: readonly string[]): Promise<string> {
    const server = startHosted("server.ts", ["--port", "0", ...args], { env: this.#env });
    this.#servers.push(server);
    return await server.listening();
  }

  run(...args: readonly string[]) {
    return runHosted("server.ts", args, { env: this.#env });
  }

  start(...args: readonly string[]) {
    return startHosted("server.ts", args, { env: this.#env });
  }

  async json(...args: readonly string[]) {
    const { code, stdout, stderr } = await this.run(...args, "--json");
    assertEquals(code, 0, stderr);
    return JSON.parse(stdout);
  }

  /** What the Server has printed. */
  get stdout(): string {
    return this.#servers[0]?.stdout.text ?? "";
  }

  /** How the Server ends by itself. */
  async ended(): Promise<number | undefined> {
    return (await this.#servers[0]?.end())?.code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }
}
