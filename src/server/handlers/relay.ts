/** `client:*`: from an Agent to a Computer of its office, and the answer back. */
import { badRequest } from "../../protocol/errors.ts";
import { fitsApproximately } from "../../protocol/size.ts";
import { parseComputerCallData } from "../../protocol/parse.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import { computerNotFound } from "../connection.ts";
import { type Call, done, type Handled, type Route } from "../hub.ts";
import { MAX_OBSERVER_REQUEST_BYTES, quoted } from "../limits.ts";
import { requireRole, toErrorAnswer } from "./_require.ts";

/** Relays by shape whatever event it is: the body as it came, and the ack as it comes. */
export const relay: Route = {
  async handle(call): Promise<Handled> {
    const { hub, connection: asker, event, body } = call;
    const request = parseComputerCallData(body);
    const { computer, req_id: reqId } = request;
    const { officeId, name: agent, isObserver: isObserving } = requireRole(call, "agent");
    if (isObserving) requireReading(call, officeId);
    const target = await hub.offices.findComputer(officeId, computer);
    if (requireRole(call, "agent").officeId !== officeId) throw computerNotFound(computer);
    const connection = target && hub.connection(target.sid);
    if (connection?.member?.officeId !== officeId) throw computerNotFound(computer);
    if (!call.isAnswered) {
      connection.tell(event, body);
      return done();
    }
    asker.asked.requireRoom("this connection", hub.loadLimits.asked);
    connection.owed.requireRoom(`Computer '${computer}'`, hub.loadLimits.owed);
    hub.officeLoads.of(officeId).requireRoom("this office", hub.loadLimits.office);
    const timeoutMs = timeoutMsOf(request) + hub.graceMs;
    const question = { event, reqId, agent, computer, officeId, timeoutMs, isObserving };
    return { kind: "waiting", answer: connection.ask(question, { body, asker }) };
  },
  refuse: toErrorAnswer,
};

/** An observer asks little at a time, and waits for the answer: it shall not take the Computers from the Agent. */
function requireReading({ hub, event, body, isAnswered }: Call, officeId: string): void {
  if (!isAnswered) throw badRequest("event", `Cannot relay "${quoted(event)}": no answer is asked for`);
  if (!fitsApproximately(body, MAX_OBSERVER_REQUEST_BYTES)) {
    throw badRequest("body", `Cannot relay "${quoted(event)}": too large for an observer`);
  }
  hub.observerLoads.of(officeId).requireRoom("the observers of this office", hub.loadLimits.observing);
}
