/** `client:*`: from an Agent to a Computer of its office, and the answer back. */
import { parseComputerCallData } from "../../protocol/parse.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import { computerNotFound } from "../connection.ts";
import { done, type Handled, type Route } from "../hub.ts";
import { requireRole, toErrorAnswer } from "./_require.ts";

/** Relays by shape whatever event it is: the body as it came, and the ack as it comes. */
export const relay: Route = {
  async handle(call): Promise<Handled> {
    const { hub, event, body } = call;
    const request = parseComputerCallData(body);
    const { computer } = request;
    const { officeId } = requireRole(call, "agent");
    const target = await hub.offices.findComputer(officeId, computer);
    const connection = target && hub.connection(target.sid);
    if (connection?.member?.officeId !== officeId) throw computerNotFound(computer);
    if (!call.isAnswered) {
      connection.tell(event, body);
      return done();
    }
    const timeoutMs = timeoutMsOf(request) + hub.graceMs;
    return { kind: "waiting", answer: connection.ask({ event, body, computer, timeoutMs }) };
  },
  refuse: toErrorAnswer,
};
