import { useChanges } from "./use-changes.js";
import { useDashboard } from "./use-dashboard.js";

/** Offers to upload a worker, to keys that may; the others are told why not. Nothing in read-only mode. */
export function useUpload(): void {
  const { overlays } = useDashboard();
  useChanges({ "workers.upload": () => overlays.show({ kind: "upload" }) }, "workers:install", ["runtimectl workers upload ./dir"]);
}
