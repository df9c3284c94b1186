import type { Principal } from "../../../src/shared/contract/principal.js";
import { rolePermissions } from "../../../src/shared/permissions.js";

/** The holder of a key with all permissions. */
export const operator: Principal = {
  id: 2,
  name: "operator",
  keyPrefix: "rtk_2",
  role: "admin",
  permissions: [...rolePermissions.admin],
  namespaces: ["*"],
};

/** A browser storage in memory. With `isBlocked`, every access throws, as in browsers that block storage. */
export class MemoryStorage {
  readonly items = new Map<string, string>();
  isBlocked = false;

  getItem(name: string): string | null {
    this.#check();
    return this.items.get(name) ?? null;
  }

  setItem(name: string, value: string): void {
    this.#check();
    this.items.set(name, value);
  }

  removeItem(name: string): void {
    this.#check();
    this.items.delete(name);
  }

  #check(): void {
    if (this.isBlocked) throw new Error("the browser keeps nothing");
  }
}
