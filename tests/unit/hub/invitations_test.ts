import { assertEquals, assertMatch } from "@std/assert";
import { CODE_MS } from "../../../src/http/codes.ts";
import { Invitations } from "../../../src/hub/invitations.ts";
import { TestState } from "./_state.ts";

const INVITATION = { name: "ada", offices: ["lab"], rights: "confirm", computers: ["laptop"] } as const;

Deno.test("a code is good once, however it is typed", () => {
  using state = new TestState();
  const invitations = new Invitations(state.file, state.clock);
  const { code, expiresAt } = invitations.add(INVITATION);
  assertMatch(code, /^[A-Z2-9]{4}-[A-Z2-9]{4}$/);
  assertEquals(expiresAt, state.now + CODE_MS);
  const typed = ` ${code.toLowerCase().replace("-", " ")} `;
  assertEquals(invitations.find(typed), INVITATION);
  assertEquals([invitations.take(typed), invitations.take(code), invitations.find(code)], [
    true,
    false,
    undefined,
  ]);
});

Deno.test("a code ends after ten minutes", () => {
  using state = new TestState();
  const invitations = new Invitations(state.file, state.clock);
  const { code } = invitations.add(INVITATION);
  state.now += CODE_MS;
  assertEquals([invitations.find(code), invitations.take(code)], [undefined, false]);
});

Deno.test("a hundred codes are good at once, the newest ones", () => {
  using state = new TestState();
  const invitations = new Invitations(state.file, state.clock);
  const codes = Array.from({ length: 101 }, () => {
    state.now++;
    return invitations.add(INVITATION).code;
  });
  assertEquals(codes.filter((code) => invitations.find(code) === undefined), codes.slice(0, 1));
});
