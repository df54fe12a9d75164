import { assertEquals } from "@std/assert";
import fc from "../../../fixtures/fast_check.ts";
import { ComputerNames, type ComputerPlace, longNames } from "../../../../src/agent/group/computer_names.ts";

const nobody = () => false;

function place(office: string, computer: string): ComputerPlace {
  return { office, computer };
}

Deno.test("a Computer keeps its name while no other office has that one", () => {
  const names = new ComputerNames(["lab", "shop"]);
  names.assign([place("lab", "laptop"), place("shop", "till")], nobody);
  assertEquals(names.nameOf(place("lab", "laptop")), "laptop");
  assertEquals(names.placeOf("till"), place("shop", "till"));
});

Deno.test("Computers of one name that come at the same time are all named with their offices", () => {
  const names = new ComputerNames(["lab", "shop"]);
  names.assign([place("lab", "laptop"), place("shop", "laptop")], nobody);
  assertEquals(names.given.map(({ name }) => name), ["laptop@lab", "laptop@shop"]);
  assertEquals(names.placeOf("laptop"), undefined);
});

Deno.test("a name that a Computer has does not go to one that comes later, also when the first is gone", () => {
  const names = new ComputerNames(["lab", "shop"]);
  names.assign([place("lab", "laptop")], nobody);
  names.assign([place("shop", "laptop")], nobody);
  assertEquals(names.placeOf("laptop"), place("lab", "laptop"));
  assertEquals(names.nameOf(place("shop", "laptop")), "laptop@shop");
});

Deno.test("a name with its office leads to its Computer, also while the shorter one is in use", () => {
  const names = new ComputerNames(["lab", "shop"]);
  names.assign([place("lab", "laptop")], nobody);
  assertEquals(names.placeOf("laptop@lab"), place("lab", "laptop"));
  assertEquals(names.placeOf("laptop@nowhere"), undefined);
});

Deno.test("a Computer whose own name ends with an office does not pass for a Computer of it", () => {
  const names = new ComputerNames(["lab", "shop"]);
  names.assign([place("shop", "laptop@lab"), place("shop", "desk@LАB")], nobody);
  assertEquals(names.nameOf(place("shop", "laptop@lab")), "laptop%40lab@shop");
  assertEquals(names.nameOf(place("shop", "desk@LАB")), "desk%40LАB@shop");
  assertEquals(names.placeOf("laptop%40lab@shop"), place("shop", "laptop@lab"));
  assertEquals(names.placeOf("laptop@lab"), place("lab", "laptop"));
});

Deno.test("a Computer whose name looks like that of another office gets a name with its office", () => {
  const names = new ComputerNames(["lab", "shop"]);
  names.assign([place("lab", "pc1")], nobody);
  names.assign([place("shop", "PCI")], nobody);
  assertEquals(names.nameOf(place("shop", "PCI")), "PCI@shop");
});

Deno.test("names of an earlier run are taken over, and those of a foreign file are not", () => {
  const given = [
    { ...place("lab", "laptop"), name: "laptop" },
    { ...place("shop", "laptop"), name: "laptop" },
    { ...place("shop", "till"), name: "desk" },
    { ...place("shop", "desk"), name: "desk@shop" },
    { ...place("gone", "box"), name: "box" },
  ];
  const names = new ComputerNames(["lab", "shop"], given);
  assertEquals(names.given.map(({ name }) => name), ["laptop", "desk@shop"]);
  names.assign([place("shop", "laptop"), place("shop", "till")], nobody);
  assertEquals(names.nameOf(place("shop", "laptop")), "laptop@shop");
  assertEquals(names.nameOf(place("shop", "till")), "till");
});

Deno.test("an office that makes up names forgets its own alone", () => {
  const names = new ComputerNames(["lab", "shop"]);
  names.assign([place("lab", "laptop")], nobody);
  const isPresent = ({ computer }: ComputerPlace) => computer === "c0";
  for (let index = 0; index < 3_000; index++) names.assign([place("shop", `c${index}`)], isPresent);
  assertEquals(names.given.length, 2_001);
  assertEquals(names.placeOf("laptop"), place("lab", "laptop"));
  assertEquals(names.placeOf("c0"), place("shop", "c0"));
  assertEquals(names.placeOf("c1"), undefined);
});

Deno.test("longNames() reads the names that somebody wrote with offices", () => {
  assertEquals(longNames(["laptop", "desk@shop"], ["lab", "shop"]), [{
    ...place("shop", "desk"),
    name: "desk@shop",
  }]);
});

Deno.test("every name leads to the one Computer that has it, in whatever order they come", () => {
  const offices = ["lab", "x@lab", "a%"];
  const part = fc.constantFrom("a", "@", "%", "lab", "x", "%40", "25");
  const computer = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));
  const places = fc.array(fc.record({ office: fc.constantFrom(...offices), computer }), { maxLength: 30 });
  fc.assert(fc.property(fc.array(places, { maxLength: 4 }), (rounds) => {
    const names = new ComputerNames(offices);
    const before = new Map<string, ComputerPlace>();
    for (const round of rounds) {
      names.assign(round, () => true);
      for (const { name, ...given } of names.given) {
        assertEquals(names.placeOf(name), given);
        assertEquals(before.get(name) ?? given, given);
        before.set(name, given);
      }
      for (const each of round) assertEquals(names.placeOf(names.nameOf(each) ?? ""), each);
    }
  }));
});
