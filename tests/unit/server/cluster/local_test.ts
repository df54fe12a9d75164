import { LocalOffices } from "../../../../src/server/cluster/local.ts";
import { Premises, testOfficeState } from "./_office_state.ts";

testOfficeState("LocalOffices", {
  openWorld() {
    const premises = new Premises();
    const state = new LocalOffices(premises, { maxMembersPerOffice: 2_048 });
    return Promise.resolve({
      processes: [{ state, premises }],
      countOffices: () => Promise.resolve(state.size),
      [Symbol.asyncDispose]: () => Promise.resolve(premises[Symbol.dispose]()),
    });
  },
});
