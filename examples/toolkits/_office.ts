/** An office for the examples: a Server, a Computer with the shop, and an Agent. In real life these are three machines. */
import { Agent } from "@a2c-smcp/sdk/agent";
import { Computer } from "@a2c-smcp/sdk/computer";
import { SmcpServer } from "@a2c-smcp/sdk/server";
import { fromFileUrl } from "@std/path";

/** An Agent in an office where the Computer `shop` is. */
export class ExampleOffice implements AsyncDisposable {
  readonly agent: Agent;
  readonly #all: AsyncDisposableStack;

  private constructor(agent: Agent, all: AsyncDisposableStack) {
    this.agent = agent;
    this.#all = all;
  }

  static async open(): Promise<ExampleOffice> {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await SmcpServer.listen({ port: 0 }));
    const computer = stack.use(Computer.open({ name: "shop", config }));
    await computer.join({ url: server.url, office: "lab" });
    await computer.ready();
    const agent = stack.use(await Agent.connect({ url: server.url, office: "lab", name: "ada" }));
    return new ExampleOffice(agent, stack.move());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#all.disposeAsync();
  }
}

const here = (file: string) => fromFileUrl(new URL(file, import.meta.url));
const config = {
  servers: {
    shop: {
      type: "stdio",
      default_tool_meta: { auto_apply: true },
      server_parameters: {
        command: Deno.execPath(),
        args: ["run", "-A", "--no-check", "--quiet", "--config", here("deno.json"), here("_shop.ts")],
      },
    },
  },
};
