import { expect, test } from "vitest";
import { assertMayGrant, rootPrincipal } from "../../../../src/server/access/principals.js";
import type { Principal } from "../../../../src/shared/contract/principal.js";
import { permissions, rolePermissions, type Permission } from "../../../../src/shared/permissions.js";

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
  ["a key grants its own permissions", holderOf(readers), { permissions: readers, namespaces: ["*"] }],
  ["a key grants fewer permissions than it has", holderOf(readers), { permissions: ["workers:read"], namespaces: ["@a", "@b"] }],
  ["a restricted key grants its own namespace", holderOf(readers, ["@a", "@b"]), { permissions: readers, namespaces: ["@b"] }],
])("a key can create another key (case: %s)", (_, principal, grant) => {
  expect(() => assertMayGrant(principal, { ...grant, expiresAt: undefined })).not.toThrow();
});

test.each<[string, Principal, { permissions: readonly Permission[]; namespaces: string[] }, string]>([
  ["a permission that its creator lacks", holderOf(readers), { permissions: ["keys:revoke"], namespaces: ["*"] }, "keys:revoke"],
  [
    "its own permissions and one more",
    holderOf(readers),
    { permissions: [...readers, "workers:remove"], namespaces: ["*"] },
    "workers:remove",
  ],
  ["the role admin", holderOf(rolePermissions.editor), { permissions, namespaces: ["*"] }, "keys:read"],
  ["all namespaces", holderOf(readers, ["@a"]), { permissions: readers, namespaces: ["*"] }, "*"],
  ["another namespace", holderOf(readers, ["@a"]), { permissions: readers, namespaces: ["@b"] }, "@b"],
  ["its own namespace and another", holderOf(readers, ["@a"]), { permissions: readers, namespaces: ["@a", "@ab"] }, "@ab"],
])("a key cannot create a key with more permissions than it has (new key: %s)", (_, principal, grant, named) => {
  const refusal = expect.objectContaining({ code: "PERMISSION_ESCALATION", status: 403, message: expect.stringContaining(named) });

  expect(() => assertMayGrant(principal, { ...grant, expiresAt: undefined })).toThrow(refusal);
});

test.each<[string, number | undefined, number | undefined, boolean]>([
  ["a key that never expires creates a key that never expires", undefined, undefined, true],
  ["a key that never expires creates a key that expires", undefined, 2000, true],
  ["a key that expires creates a key with the same expiry", 2000, 2000, true],
  ["a key that expires cannot create a key with a later expiry", 2000, 2001, false],
  ["a key that expires cannot create a key that never expires", 2000, undefined, false],
])("a key cannot create a key that expires later than itself (case: %s)", (_, own, granted, isAllowed) => {
  const principal = { ...admin, ...(own === undefined ? {} : { expiresAt: own }) };
  const grant = () => assertMayGrant(principal, { permissions, namespaces: ["*"], expiresAt: granted });

  if (isAllowed) expect(grant).not.toThrow();
  else expect(grant).toThrow(expect.objectContaining({ code: "PERMISSION_ESCALATION", status: 403 }));
});
