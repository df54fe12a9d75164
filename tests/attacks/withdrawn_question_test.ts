/** Attacker: an Agent. It cancels a call in the moment of the answer, so that the answer confirms another call */
import { assertEquals } from "@std/assert";
import { TerminalBottom } from "../../src/terminal/bottom_line.ts";
import { ask } from "../../src/terminal/editor/line_editor.ts";
import { QuestionQueue } from "../../src/terminal/editor/questions.ts";

/** A person at a queue of questions whose clock stands until it is moved. */
class Person {
  readonly clock = { nowMs: 0 };
  readonly queue = new QuestionQueue({
    bottom: new TerminalBottom(),
    onChange: () => {},
    now: () => this.clock.nowMs,
  });

  /** Presses keys; tells which of them were taken for the question on the screen. */
  type(text: string): string {
    return [...text].filter((key) => {
      const isTaken = this.queue.takesKey();
      if (isTaken) this.queue.line?.press(key, key === "\r" ? { name: "return" } : {});
      return isTaken;
    }).join("");
  }
}

Deno.test("a yes to a call that is cancelled in that moment is no answer to the next one", async () => {
  const person = new Person();
  const cancel = new AbortController();
  const first = ask(person.queue, { text: "Run ls? ", signal: cancel.signal });
  const second = ask(person.queue, { text: "Run rm? " });
  cancel.abort();
  assertEquals(await first, undefined);
  person.clock.nowMs += 300;
  assertEquals(person.type("y\r"), "");
  // As long as keys come, nobody has read the question.
  person.clock.nowMs += 900;
  assertEquals(person.type("y\r"), "");
  person.clock.nowMs += 1_001;
  assertEquals(person.type("n\r"), "n\r");
  assertEquals(await second, "n");
});

Deno.test("a question that comes shortly after one was withdrawn takes no key before it can have been read", async () => {
  const person = new Person();
  const cancel = new AbortController();
  void ask(person.queue, { text: "Run ls? ", signal: cancel.signal });
  cancel.abort();
  person.clock.nowMs += 500;
  const next = ask(person.queue, { text: "Run rm? " });
  person.clock.nowMs += 900;
  assertEquals(person.type("y\r"), "");
  person.clock.nowMs += 1_001;
  assertEquals(person.type("y\r"), "y\r");
  assertEquals(await next, "y");
});

Deno.test("the rest of a secret whose question was withdrawn goes nowhere", () => {
  const person = new Person();
  const cancel = new AbortController();
  void ask(person.queue, { text: "API key: ", isHidden: true, signal: cancel.signal });
  assertEquals(person.type("sec"), "sec");
  cancel.abort();
  assertEquals(person.type("ret\r"), "");
  person.clock.nowMs += 1_001;
  assertEquals(person.type("status"), "status");
});

Deno.test("who has answered is asked the next question at once", async () => {
  const person = new Person();
  const [first, second] = [ask(person.queue, { text: "One? " }), ask(person.queue, { text: "Two? " })];
  assertEquals(person.type("a\rb\r"), "a\rb\r");
  assertEquals(await Promise.all([first, second]), ["a", "b"]);
});
