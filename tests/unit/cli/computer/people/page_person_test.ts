import { assertEquals } from "@std/assert";
import { PagePerson } from "../../../../../src/cli/computer/people/page_person.ts";
import { ON_PAGE, People } from "../../../../../src/cli/computer/people/people.ts";
import { toWaitingEntry } from "../../../../../src/cli/computer/people/waiting.ts";
import { silentLogger } from "../../../../../src/log.ts";

const STEP = { type: "open_url", server: "search", url: "https://login.example/", needs_address: false };

function scene() {
  const people = new People({ log: silentLogger });
  const told: unknown[] = [];
  people.follow(({ waiting, gone }) => told.push(gone ?? toWaitingEntry(waiting)["question"]));
  return { people, told, person: new PagePerson(people) };
}

Deno.test("a sign-in waits like a question, takes lines, and says why one was not accepted", async () => {
  const { people, told, person } = scene();
  person.print(JSON.stringify(STEP));
  const [entry] = people.waiting.map(toWaitingEntry);
  const { since: _, ...shown } = entry ?? {};
  const { type: _type, server: _server, ...step } = STEP;
  assertEquals(shown, {
    id: "q1",
    kind: "question",
    server: "search",
    tool: "auth login",
    name: "auth login",
    claimed_agent: "",
    is_local: true,
    question: { mode: "sign-in", message: "", ...step, problems: [] },
  });
  const { signal } = new AbortController();
  const line = person.ask({ text: "", signal });
  people.answer("q1", { answer: { action: "accept", content: { line: "the code" } }, place: ON_PAGE });
  assertEquals(await line, "the code");
  person.print(JSON.stringify({ type: "not_accepted", message: "not it" }));
  assertEquals(told.at(-1), { mode: "sign-in", message: "", ...step, problems: ["not it"] });
  person[Symbol.dispose]();
  assertEquals([people.waiting, told.at(-1)], [[], "the sign-in has ended"]);
});

Deno.test("to decline a sign-in ends its command", async () => {
  const { people, told, person } = scene();
  person.print(JSON.stringify(STEP));
  const ended = new AbortController();
  const line = person.ask({ text: "", signal: AbortSignal.any([ended.signal, person.declined]) });
  people.answer("q1", { answer: { action: "decline" }, place: ON_PAGE });
  assertEquals([person.declined.aborted, await line], [true, undefined]);
  person[Symbol.dispose]();
  assertEquals(told.at(-1), "answered on the page");
});
