/** Clients: the grants of a hub with their rights, and tokens by name. */
import { act } from "../kit/client.ts";
import { Ask, type Values } from "../kit/form.ts";
import { html } from "../kit/html.ts";
import { Failure, nameOf, say, Table } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { Moment } from "../kit/time.ts";
import { Line, nameText, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import type { ServerStatus } from "./overview.ts";

const T = texts.operator.clients;
const INTERVAL_MS = 5_000;
/** The least first. */
const RIGHTS = ["read", "confirm", "call"];

interface Grant {
  readonly id: string;
  readonly client: string;
  readonly consented_by: string;
  readonly offices: readonly string[];
  readonly rights: string;
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
  const { value: overview } = useReading<ServerStatus>("overview");
  const { value: tokens = [], error } = useReading<readonly Token[]>("tokens", { everyMs: INTERVAL_MS });
  return html`
    <div class="scroll">
      ${overview?.hub && html`<${Grants} />`}
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
  const { value: grants = [], error, again } = useReading<readonly Grant[]>("grants/list", {
    everyMs: INTERVAL_MS,
  });
  const change = async (path: string, { id, client }: Grant, options: Values = {}) => {
    await act(path, { arguments: [id], options });
    say(texts.done(path === "grants/limit" ? T.limit : T.revoke, nameText(client)));
    again();
  };
  const cellsOf = (grant: Grant) => {
    const { client, consented_by, offices, rights, last_used, calls } = grant;
    const limit = ({ rights: wanted, office }: Values) =>
      change("grants/limit", grant, { ...wanted !== rights && { rights: wanted }, office });
    return [
      nameOf(client),
      nameOf(consented_by),
      namesOf(offices),
      rights,
      last_used === null ? T.never : html`<${Moment} at=${last_used} />`,
      calls.toLocaleString("en"),
      html`<span class="actions">
        <${Ask} title=${T.limitOf(nameText(client))} submit=${T.limit} schema=${
        limitSchema(grant)
      } onSubmit=${limit} />
        <${Ask} kind="danger" title=${T.revokeOf(nameText(client))} about=${T.revokeAbout} submit=${T.revoke}
          onSubmit=${() => change("grants/revoke", grant)} /></span>`,
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
function limitSchema({ rights, offices }: Grant): Values {
  const fewer = RIGHTS.slice(0, RIGHTS.indexOf(rights) + 1);
  return {
    required: ["rights", "office"],
    properties: {
      rights: { type: "string", enum: fewer, title: T.rights, default: rights },
      office: { type: "array", items: { enum: offices }, title: T.offices, default: offices },
    },
  };
}
