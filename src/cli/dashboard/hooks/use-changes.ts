import type { Permission } from "../../../shared/permissions.js";
import type { Handlers } from "../key-dispatcher.js";
import { lacking } from "../lacking.js";
import { useDashboard } from "./use-dashboard.js";
import { useKeyScope } from "./use-key-scope.js";
import { useMay } from "./use-may.js";
import { useMissingPermissions } from "./use-missing-permissions.js";

/** Offers keys that change something to those whose key may; the others are told why not. Nothing in read-only mode. */
export function useChanges(handlers: Handlers, permission: Permission, lines: readonly string[]): void {
  const { overlays } = useDashboard();
  const isMissing = useMissingPermissions([{ permission }]).length > 0;
  const isOffered = useMay()(permission);
  const refuse = () => overlays.say("note", lacking(permission));
  useKeyScope({
    handlers: isOffered ? handlers : {},
    refusals: isMissing ? Object.fromEntries(Object.keys(handlers).map((id) => [id, refuse])) : {},
    lines: isOffered ? lines : [],
  });
}
