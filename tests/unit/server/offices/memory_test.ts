import { MemoryOffices } from "../../../../src/server/offices/memory.ts";
import { Premises, testOffices } from "./_offices.ts";

testOffices("MemoryOffices", {
  openWorld() {
    const premises = new Premises();
    const state = new MemoryOffices(premises, { maxMembersPerOffice: 2_048 });
    return Promise.resolve({
      processes: [{ state, premises }],
      countOffices: () => Promise.resolve(state.size),
      [Symbol.asyncDispose]: () => Promise.resolve(premises[Symbol.dispose]()),
    });
  },
});
