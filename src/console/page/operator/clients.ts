/** Clients: the grants of a hub with their rights, and tokens by name. */
import type { GrantValue, TokenValue } from "../../../api_values.ts";
import { Ask, type Values } from "../kit/form.ts";
import { Table } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { momentOf } from "../kit/time.ts";
import { failureOf, html, lineOf, nameOf, nameText, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { overview } from "./overview.ts";

const T = texts.operator.clients;
/** The least first. */
const RIGHTS = ["read", "confirm", "call"];

export function Clients(): View {
  const { value: tokens = [], error } = useReading<readonly TokenValue[]>("tokens", { isPolled: true });
  const rows = tokens.map((token) => [`${token.kind} ${token.name}`, [
    nameOf(token.name),
    T.kinds[token.kind],
    token.offices === null ? T.allOffices : namesOf(token.offices),
    token.kind === "client" ? rightsOf(token) : token.roles === null ? T.anyRole : namesOf(token.roles),
    expiryOf(token),
  ]]);
  return html`
    <div class="scroll">
      ${overview.value?.hub && html`<${Grants} />`}
      <h2 class="heading">${T.tokens}</h2>
      <p class="faint">${T.tokensAbout}</p>${failureOf(error)}
      <${Table} isStacked label=${T.tokens} head=${T.tokenHead} empty=${T.noTokens} rows=${rows} />
    </div>
  `;
}

function expiryOf({ expires, expired }: TokenValue): string {
  const day = expires?.slice(0, 10) ?? T.never;
  return expired ? `${T.expired} ${day}` : day;
}

function namesOf(names: readonly string[]): View {
  return lineOf(names.map(nameText).join(", "), 2_000);
}

/** What a client may do, and with which Computers. */
function rightsOf({ rights, computers }: Pick<TokenValue, "rights" | "computers">): View {
  return computers === null ? rights : html`${rights}, ${T.onlyWith} ${namesOf(computers)}`;
}

function Grants(): View {
  const { value: grants = [], error, again } = useReading<readonly GrantValue[]>("grants/list", {
    isPolled: true,
  });
  const rowOf = (grant: GrantValue) => {
    const { id, client, consented_by, offices, last_used, calls } = grant;
    const deed = { of: [id], name: client, onDone: again };
    return [id, [
      nameOf(client),
      nameOf(consented_by),
      namesOf(offices),
      rightsOf(grant),
      last_used === null ? T.never : momentOf(last_used),
      calls.toLocaleString("en"),
      html`<span class="actions">
        <${Ask} ...${deed} title=${T.limitOf(nameText(client))} path="grants/limit" schema=${
        limitSchema(grant)
      } />
        <${Ask} ...${deed} kind="danger" title=${T.revokeOf(nameText(client))} about=${T.revokeAbout}
          path="grants/revoke" /></span>`,
    ]];
  };
  return html`
    <h2 class="heading">${T.grants}</h2>${failureOf(error)}
    <${Table} isStacked label=${T.grants} head=${T.grantHead} empty=${T.noGrants} rows=${grants.map(rowOf)} />
  `;
}

/** A grant can only lose rights and offices. */
function limitSchema({ rights, offices }: GrantValue): Values {
  const fewer = RIGHTS.slice(0, RIGHTS.indexOf(rights) + 1);
  return {
    required: ["rights", "office"],
    properties: {
      rights: { type: "string", enum: fewer, title: T.rights, default: rights },
      office: {
        type: "array",
        items: { enum: offices },
        title: texts.operator.offices.title,
        default: offices,
      },
    },
  };
}
