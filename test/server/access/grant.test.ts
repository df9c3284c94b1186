import { expect, test } from "vitest";
import { assertMayGrant } from "../../../src/server/access/grant.js";
import { rootPrincipal } from "../../../src/server/access/principals.js";
import type { Principal } from "../../../src/shared/contract/principal.js";
import { permissions, rolePermissions, type Permission } from "../../../src/shared/permissions.js";

const admin: Principal = { ...rootPrincipal, id: 1, name: "admin" };
const holderOf = (held: readonly Permission[], namespaces = ["*"]): Principal => ({
  ...admin,
  role: "custom",
  permissions: [...held],
  namespaces,
});
const readers: Permission[] = ["workers:read", "keys:create"];

test.each<[string, Principal, { permissions: readonly Permission[]; namespaces: string[] }]>([
  ["root grants everything", rootPrincipal, { permissions, namespaces: ["*"] }],
  ["an admin grants everything", admin, { permissions, namespaces: ["*"] }],
  ["an admin grants a narrow namespace", admin, { permissions, namespaces: ["@team"] }],
  ["a key grants what it holds", holderOf(readers), { permissions: readers, namespaces: ["*"] }],
  ["a key grants less than it holds", holderOf(readers), { permissions: ["workers:read"], namespaces: ["@a", "@b"] }],
  ["a restricted key grants its own namespace", holderOf(readers, ["@a", "@b"]), { permissions: readers, namespaces: ["@b"] }],
])("%s", (_, principal, grant) => {
  expect(() => assertMayGrant(principal, grant)).not.toThrow();
});

test.each<[string, Principal, { permissions: readonly Permission[]; namespaces: string[] }, string]>([
  ["a permission it lacks", holderOf(readers), { permissions: ["keys:revoke"], namespaces: ["*"] }, "keys:revoke"],
  ["one permission too many", holderOf(readers), { permissions: [...readers, "workers:remove"], namespaces: ["*"] }, "workers:remove"],
  ["the role admin", holderOf(rolePermissions.editor), { permissions, namespaces: ["*"] }, "keys:read"],
  ["all namespaces", holderOf(readers, ["@a"]), { permissions: readers, namespaces: ["*"] }, "*"],
  ["another namespace", holderOf(readers, ["@a"]), { permissions: readers, namespaces: ["@b"] }, "@b"],
  ["its own namespace and another", holderOf(readers, ["@a"]), { permissions: readers, namespaces: ["@a", "@ab"] }, "@ab"],
])("a key cannot grant %s", (_, principal, grant, named) => {
  const refusal = expect.objectContaining({ code: "PERMISSION_ESCALATION", status: 403, message: expect.stringContaining(named) });

  expect(() => assertMayGrant(principal, grant)).toThrow(refusal);
});
