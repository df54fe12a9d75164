import { assertEquals } from "@std/assert";
import { SessionInputs } from "../../../../src/computer/cli/session_inputs.ts";
import type { InputRequest } from "../../../../src/computer/inputs.ts";

const input = { id: "key", type: "promptString", description: "", default: null, password: null } as const;

/** Somebody who is asked, and answers when the test says so; a question that is taken back has no answer. */
class Person {
  readonly asked: string[] = [];
  #questions: PromiseWithResolvers<string | undefined>[] = [];

  readonly ask = (_id: string, { server, signal }: InputRequest): Promise<string | undefined> => {
    const question = Promise.withResolvers<string | undefined>();
    this.asked.push(server);
    this.#questions.push(question);
    signal.addEventListener("abort", () => question.resolve(undefined), { once: true });
    return question.promise;
  };

  answer(value: string): void {
    for (const question of this.#questions) question.resolve(value);
  }
}

function open(person: Person) {
  const inputs = new SessionInputs({ environment: () => undefined, ask: person.ask });
  const request = (server: string, signal = new AbortController().signal) =>
    Promise.resolve(inputs.source("key", { input, server, signal }));
  return { inputs, request };
}

Deno.test("several servers that use one input ask for it once", async () => {
  const person = new Person();
  const { request } = open(person);
  const values = Promise.all([request("a"), request("b")]);
  person.answer("secret");
  assertEquals(await values, ["secret", "secret"]);
  assertEquals(person.asked, ["a"]);
});

Deno.test("a server that goes takes its question with it, and whoever else needs the value asks anew", async () => {
  const person = new Person();
  const { request } = open(person);
  const going = new AbortController();
  const [first, second] = [request("a", going.signal), request("b")];
  going.abort();
  assertEquals(await first, undefined);
  assertEquals(person.asked, ["a", "b"]);
  person.answer("secret");
  assertEquals(await second, "secret");
});
