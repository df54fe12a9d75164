import { assert } from "@std/assert";
import { isGrant, isGranted } from "../../../../src/server/admission/provider.ts";

const seat = { officeId: "lab", role: "agent", isObserver: false, name: "laptop" } as const;

Deno.test("isGranted() compares office ids as they are", () => {
  assert(isGranted({ offices: ["lab"] }, seat));
  for (const near of ["lab ", "LAB", "la", "lab2", "*", "", "ｌab", "__proto__"]) {
    assert(!isGranted({ offices: [near] }, seat), near);
  }
});

Deno.test("isGranted() lets an agent observe, and an observer do nothing else", () => {
  assert(isGranted({ roles: ["agent"] }, { ...seat, isObserver: true }));
  assert(isGranted({ roles: ["observer"] }, { ...seat, isObserver: true }));
  assert(!isGranted({ roles: ["observer"] }, seat));
  assert(!isGranted({ roles: ["observer"] }, { ...seat, role: "computer" }));
});

Deno.test("a grant of names is for Computers alone", () => {
  const grant = { names: ["laptop"] };
  assert(isGranted(grant, { ...seat, role: "computer" }));
  assert(!isGranted(grant, { ...seat, role: "computer", name: "other" }));
  assert(isGranted(grant, { ...seat, name: "other" }));
});

Deno.test("isGrant() accepts only lists of offices and of known roles", () => {
  for (const grant of [{}, { offices: [] }, { roles: ["agent", "computer", "observer"] }]) {
    assert(isGrant(grant));
  }
  for (const other of [null, [], "all", { offices: null }, { roles: ["root"] }, { offices: "lab" }]) {
    assert(!isGrant(other), JSON.stringify(other));
  }
});

Deno.test("isGrant() refuses unknown members: a misspelt one would count as everything", () => {
  for (const other of [{ office: ["lab"] }, { offices: ["lab"], role: ["agent"] }, { Offices: [] }]) {
    assert(!isGrant(other), JSON.stringify(other));
  }
});
