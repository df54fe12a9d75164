/** The names that other programs give to the members of `oauth`. */
import { isRecord } from "../../json.ts";
import type { Member, Part } from "./members.ts";

/** Our names for members of other programs; a member that is not listed keeps its name. */
const NAMES: ReadonlyMap<string, string> = new Map(Object.entries({
  CLIENT_ID: "clientId",
  client_id: "clientId",
  CLIENT_SECRET: "clientSecret",
  client_secret: "clientSecret",
  client_metadata_url: "clientMetadataUrl",
  callbackPort: "redirectPort",
  callback_port: "redirectPort",
  redirect_port: "redirectPort",
  scope: "scopes",
}));

/** Translates `oauth`, or a member of the same meaning, such as `"auth": "oauth"`. */
export const signIn: Member = (value, key) => {
  if (value === "oauth") return [{ path: ["oauth"], value: true, from: [key] }];
  if (!isRecord(value)) return [{ path: ["oauth"], value, from: [key] }];
  if (value["enabled"] === false) return [{ path: ["oauth"], value: false, from: [key, "enabled"] }];
  const members = Object.entries(value).filter(([member, each]) =>
    member !== "enabled" && each !== undefined
  );
  const whole: Part = { path: ["oauth"], value: {}, from: [key] };
  return [whole, ...members.map(([member, each]) => memberPart(member, each, [key, member]))];
};

/** Translates scopes that stand beside the settings of the sign-in. */
export const signInScopes: Member = (value, key) => [memberPart("scopes", value, [key])];

function memberPart(member: string, value: unknown, from: Part["from"]): Part {
  const name = NAMES.get(member) ?? member;
  return { path: ["oauth", name], value: name === "scopes" ? toScopes(value) : value, from };
}

/** A text with scopes as a list of them. */
function toScopes(value: unknown): unknown {
  return typeof value === "string" ? value.split(/[\s,]+/).filter((scope) => scope !== "") : value;
}
