/** Clients: the grants of a hub with their rights, and tokens by name. */
import type { GrantValue, TokenValue } from "../../../api_values.ts";
import { Ask, type Values } from "../kit/form.ts";
import { html } from "../kit/html.ts";
import { Failure, nameOf, Table } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { Moment } from "../kit/time.ts";
import { Line, nameText, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { overview } from "./overview.ts";

const T = texts.operator.clients;
const INTERVAL_MS = 5_000;
/** The least first. */
const RIGHTS = ["read", "confirm", "call"];

export function Clients(): View {
  const { value: tokens = [], error } = useReading<readonly TokenValue[]>("tokens", { everyMs: INTERVAL_MS });
  return html`
    <div class="scroll">
      ${overview.value?.hub && html`<${Grants} />`}
      <h2 class="heading">${T.tokens}</h2>
      <p class="faint">${T.tokensAbout}</p>
      <${Failure} text=${error} />
      <${Table} label=${T.tokens} head=${T.tokenHead} empty=${T.noTokens}
        rows=${tokens.map(({ name, kind, offices, roles, expires }) => [`${kind} ${name}`, [
          nameOf(name),
          T.kinds[kind],
          offices === null ? T.allOffices : namesOf(offices),
          namesOf(roles ?? []),
          expires?.slice(0, 10) ?? T.never,
        ]])} />
    </div>
  `;
}

function namesOf(names: readonly string[]): View {
  return html`<${Line} text=${names.map(nameText).join(", ")} max=${2_000} />`;
}

function Grants(): View {
  const { value: grants = [], error, again } = useReading<readonly GrantValue[]>("grants/list", {
    everyMs: INTERVAL_MS,
  });
  const cellsOf = (grant: GrantValue) => {
    const { id, client, consented_by, offices, rights, last_used, calls } = grant;
    const deed = { of: [id], name: client, onDone: again };
    return [
      nameOf(client),
      nameOf(consented_by),
      namesOf(offices),
      rights,
      last_used === null ? T.never : html`<${Moment} at=${last_used} />`,
      calls.toLocaleString("en"),
      html`<span class="actions">
        <${Ask} ...${deed} title=${T.limitOf(nameText(client))} label=${T.limit} path="grants/limit"
          schema=${limitSchema(grant)} />
        <${Ask} ...${deed} kind="danger" title=${T.revokeOf(nameText(client))} about=${T.revokeAbout}
          label=${T.revoke} path="grants/revoke" /></span>`,
    ];
  };
  return html`
    <h2 class="heading">${T.grants}</h2>
    <${Failure} text=${error} />
    <${Table} label=${T.grants} head=${T.grantHead} empty=${T.noGrants}
      rows=${grants.map((grant) => [grant.id, cellsOf(grant)])} />
  `;
}

/** A grant can only lose rights and offices. */
function limitSchema({ rights, offices }: GrantValue): Values {
  const fewer = RIGHTS.slice(0, RIGHTS.indexOf(rights) + 1);
  return {
    required: ["rights", "office"],
    properties: {
      rights: { type: "string", enum: fewer, title: T.rights, default: rights },
      office: { type: "array", items: { enum: offices }, title: T.offices, default: offices },
    },
  };
}
