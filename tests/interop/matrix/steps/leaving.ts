/** What happens when somebody is gone. */
import { assertEquals } from "@std/assert";
import { fields } from "../../_office.ts";
import type { Office } from "../office.ts";
import type { Step } from "../step.ts";

async function leaveAndReturn(office: Office): Promise<void> {
  office.agent.takeEvents();
  await office.computer.command({ command: "leave" });
  const { data } = await office.agent.nextEvent("notify:leave_office");
  assertEquals(fields(data)["computer"], office.computerName);
  await office.computer.command({ command: "join", office: office.name });
  await office.agent.nextEvent("notify:enter_office");
}

async function disconnect(office: Office): Promise<void> {
  await office.call(["windows", "set_status"], { text: "about to go" });
  await office.untilDesktopSays("about to go");
  office.agent.takeEvents();
  const call = office.call(["windows", "slow"], { seconds: 60 }, 60);
  const outcome = call.then((result) => result["isError"] === true, () => true);
  await office.untilDesktopSays("slow is running");
  await office.computer[Symbol.asyncDispose]();
  await office.agent.nextEvent("notify:leave_office");
  assertEquals(await outcome, true);
}

/** In the order in which they run; after them the Computer is gone. */
export const leavingSteps: readonly Step[] = [
  { id: "leave", title: "The Computer leaves and returns", run: leaveAndReturn },
  { id: "disconnect", title: "Calls in flight end when the Computer is gone", run: disconnect },
];
