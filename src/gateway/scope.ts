/** What a client of the gateway reaches. */
import type { GatewayChange } from "./gateway_options.ts";

/** Everything; everything, but by searching; or one Computer. */
export type Scope =
  | { readonly kind: "all" }
  | { readonly kind: "search" }
  | { readonly kind: "computer"; readonly computer: string };

/** Whether a change may be of what a scope reaches. */
export function concerns({ computer }: GatewayChange, scope: Scope): boolean {
  return scope.kind !== "computer" || computer === undefined || computer === scope.computer;
}
