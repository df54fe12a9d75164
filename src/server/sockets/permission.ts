/** Permissions that need no prompt, in Deno and in Node. */

/** Whether the permission was granted to this process when it started. Node has no permissions to ask for. */
export function isGranted(permission: Deno.PermissionDescriptor): boolean {
  return typeof Deno === "undefined" || Deno.permissions.querySync(permission).state === "granted";
}
