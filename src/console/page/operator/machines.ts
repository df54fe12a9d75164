/** Machines: those that wait for an operator, and those that have joined by code. */
import type { MachinesValue, MachineValue } from "../../../api_values.ts";
import { Ask, Form, type Values } from "../kit/form.ts";
import { perform, Table } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { asleepOf, momentOf } from "../kit/time.ts";
import { failureOf, html, lineOf, nameOf, nameText, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";

const T = texts.operator.machines;
const TEXT = { type: "string", format: "line" };
const APPROVAL: Values = {
  required: ["code", "office"],
  properties: {
    code: { ...TEXT, title: T.code },
    office: { ...TEXT, title: T.offices },
    role: {
      type: "array",
      items: { enum: ["computer", "agent", "observer"] },
      title: T.roles,
      default: ["computer"],
    },
    name: { ...TEXT, title: T.otherName },
  },
};

export function Machines(): View {
  const { value, error, again } = useReading<MachinesValue>("machines/list", {
    on: ["audit"],
    isPolled: true,
  });
  if (value === undefined) return html`<div class="scroll">${failureOf(error)}</div>`;
  const { problem, machines, waiting } = value;
  const approve = async ({ code, office, ...more }: Values) => {
    const options = { office: officesIn(office), ...more };
    await perform({ path: "machines/approve", of: [String(code)], options });
    again();
  };
  const waitingRows = waiting.map(({ name, system, address, server, since }) => {
    const cells = [nameOf(name), lineOf(system, 100), address, lineOf(server, 200), momentOf(since)];
    return [`${name} ${since}`, cells];
  });
  return html`
    <div class="scroll">
      ${failureOf(problem ?? error)}
      <h2 class="heading">${T.waiting}</h2>
      <${Table} isStacked label=${T.waiting} head=${T.waitingHead} empty=${T.noneWaits} rows=${waitingRows} />
      ${waiting.length > 0 && html`
        <p class="faint">${T.codeAbout}</p>
        <${Form} key=${waiting.length} schema=${APPROVAL} submit=${texts.deeds["machines/approve"].label}
          onSubmit=${approve} />
      `}
      <h2 class="heading">${T.title}</h2>
      <${Table} isStacked label=${T.title} head=${T.head} empty=${T.none}
        rows=${machines.map((each) => rowOf(each, again))} />
    </div>
  `;
}

function rowOf({ id, name, offices, roles, since, last_seen, ...seen }: MachineValue, onDone: () => void) {
  const { asleep_since: asleep, in: seats } = seen;
  const deed = { of: [id], name, onDone };
  const toRename = (values: Values) => ({ of: [id, String(values["name"])], options: {} });
  const toLimit = ({ office }: Values) => ({ options: { office: officesIn(office) } });
  return [id, [
    html`${nameOf(name)} <span class="faint">${id}</span>`,
    lineOf(`${offices.map(nameText).join(", ")}; ${roles.join(", ")}`, 2_000),
    momentOf(since),
    asleep !== null
      ? asleepOf(asleep)
      : seats.length > 0
      ? T.online(seats.map(nameText).join(", "))
      : momentOf(last_seen),
    html`<span class="actions">
      <${Ask} ...${deed} title=${T.renameOf(nameText(name))} path="machines/rename" toDeed=${toRename}
        schema=${fieldOf("name", T.name, name)} />
      <${Ask} ...${deed} title=${T.limitOf(nameText(name))} path="machines/limit" toDeed=${toLimit}
        schema=${fieldOf("office", T.offices, offices.join(", "))} />
      <${Ask} ...${deed} kind="danger" title=${T.revokeOf(nameText(name))} about=${T.revokeAbout}
        path="machines/revoke" /></span>`,
  ]];
}

function fieldOf(field: string, title: string, value: string): Values {
  return { required: [field], properties: { [field]: { ...TEXT, title, default: value } } };
}

function officesIn(text: unknown): string[] {
  return String(text).split(",").map((office) => office.trim()).filter((office) => office !== "");
}
