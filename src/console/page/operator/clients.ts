/** Clients: the grants of a hub with their rights, and tokens by name. */
import { useState } from "preact/hooks";
import { act } from "../kit/client.ts";
import { inputOf } from "../kit/form.ts";
import { html } from "../kit/html.ts";
import { Button, Dialog, Failure, say } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { Moment } from "../kit/time.ts";
import { Name, nameText, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { Names, type Overview, Table, useEvery } from "./server.ts";

const T = texts.operator.clients;
const INTERVAL_MS = 5_000;
/** The least first. */
const RIGHTS = ["read", "confirm", "call"] as const;

interface Grant {
  readonly id: string;
  readonly client: string;
  readonly consented_by: string;
  readonly offices: readonly string[];
  readonly rights: typeof RIGHTS[number];
  readonly last_used: string | null;
  readonly calls: number;
}

interface Token {
  readonly name: string;
  readonly kind: keyof typeof T.kinds;
  readonly offices: readonly string[] | null;
  readonly roles: readonly string[] | null;
  readonly expires: string | null;
}

export function Clients(): View {
  const { value: overview } = useReading<Overview>("overview");
  const { value: tokens, error, again } = useReading<readonly Token[]>("tokens");
  useEvery(INTERVAL_MS, again);
  return html`
    <div class="scroll">
      ${overview?.hub && html`<${Grants} />`}
      <h2 class="heading">${T.tokens}</h2>
      <p class="faint calm">${T.tokensAbout}</p>
      <${Failure} text=${error} />
      <${Table} label=${T.tokens} head=${T.tokenHead} empty=${T.noTokens}
        rows=${(tokens ?? []).map(({ name, kind, offices, roles, expires }) => [`${kind} ${name}`, [
          html`<strong><${Name} text=${name} /></strong>`,
          T.kinds[kind],
          html`<${Names} names=${offices} />`,
          roles === null ? "" : html`<${Names} names=${roles} />`,
          expires === null ? texts.operator.never : expires.slice(0, 10),
        ]])} />
    </div>
  `;
}

function Grants(): View {
  const { value: grants, error, again } = useReading<readonly Grant[]>("grants/list");
  const [chosen, setChosen] = useState<{ grant: Grant; dialog: typeof Limit } | undefined>(undefined);
  useEvery(INTERVAL_MS, again);
  const close = () => {
    setChosen(undefined);
    again();
  };
  return html`
    <h2 class="heading">${T.grants}</h2>
    <${Failure} text=${error} />
    <${Table} label=${T.grants} head=${T.grantHead} empty=${T.noGrants} rows=${(grants ?? []).map((grant) => {
      const { id, client, consented_by, offices, rights, last_used, calls } = grant;
      return [id, [
        html`<strong><${Name} text=${client} /></strong>`,
        html`<${Name} text=${consented_by} />`,
        html`<${Names} names=${offices} />`,
        rights,
        last_used === null ? texts.operator.never : html`<${Moment} at=${last_used} />`,
        calls.toLocaleString("en"),
        html`<span class="actions">
          <${Button} label=${T.limitOf(nameText(client))} onPress=${() =>
          setChosen({ grant, dialog: Limit })}>${T.limit}<//>
          <${Button} kind="danger" label=${T.revokeOf(nameText(client))} onPress=${() =>
          setChosen({ grant, dialog: Revoke })}>${T.revoke}<//></span>`,
      ]];
    })} />
    ${chosen !== undefined && html`<${chosen.dialog} grant=${chosen.grant} onClose=${close} />`}
  `;
}

interface GrantDialogProps {
  readonly grant: Grant;
  readonly onClose: () => void;
}

function Limit({ grant, onClose }: GrantDialogProps): View {
  const { id, client, rights, offices } = grant;
  const [wanted, setWanted] = useState<string>(rights);
  const [kept, setKept] = useState<readonly string[]>(offices);
  const limit = async () => {
    const options = { ...wanted !== rights && { rights: wanted }, office: kept };
    await act("grants/limit", { arguments: [id], options });
    say(T.limited(nameText(client)));
    onClose();
  };
  const toggle = (office: string) =>
    setKept(kept.includes(office) ? kept.filter((each) => each !== office) : [...kept, office]);
  return html`
    <${Dialog} title=${T.limitOf(nameText(client))} onClose=${onClose}>
      <div class="form">
        <label class="field"><span>${T.rights}</span>
          <select value=${wanted} onChange=${inputOf(setWanted)}>${RIGHTS.slice(0, RIGHTS.indexOf(rights) + 1)
            .map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select></label>
        ${offices.map((office) =>
          html`<label class="check" key=${office}><input type="checkbox" checked=${kept.includes(office)}
            onChange=${() => toggle(office)} /> <${Name} text=${office} /></label>`
        )}
        <div class="actions"><${Button} kind="primary" isOff=${kept.length === 0} onPress=${limit}>${T
          .limit}<//></div>
      </div>
    <//>
  `;
}

function Revoke({ grant: { id, client }, onClose }: GrantDialogProps): View {
  const revoke = async () => {
    await act("grants/revoke", { arguments: [id] });
    say(T.revoked(nameText(client)));
    onClose();
  };
  return html`
    <${Dialog} title=${T.revokeOf(nameText(client))} onClose=${onClose}>
      <p>${T.revokeAbout}</p>
      <div class="actions">
        <${Button} kind="danger" onPress=${revoke}>${T.revoke}<//></div>
    <//>
  `;
}
