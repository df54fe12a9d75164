/**
 * Several offices used as one: toolkits and the gateway take an {@linkcode OfficeGroup} in place of an Agent.
 *
 * ```ts
 * import { OfficeGroup } from "@a2c-smcp/sdk/group";
 *
 * export async function listComputers(url: string): Promise<void> {
 *   await using group = await OfficeGroup.connect({ url, name: "ada", offices: ["lab", "shop"] });
 *   for (const { office, problem } of group.offices) console.log(office, problem ?? "ready");
 *   for (const { name } of await group.listOffice()) console.log(name);
 * }
 * ```
 *
 * @module
 */
export { type GroupOptions, OfficeGroup, type OfficeGroupOptions, type OfficePlace } from "./office_group.ts";
export type { ComputerPlace, GivenComputerName } from "./computer_names.ts";
export type { GroupedOffice } from "./group_member.ts";
