import { useState } from "react";
import { useApi } from "../../live/use-api.js";
import { useServedAt } from "../../live/use-served-at.js";
import { usePanel } from "../../use-panel.js";
import { askServed, servedOperations, type Served } from "./ask-served.js";
import type { Folder } from "./package-ref.js";

/** A package that the daemon stopped serving after a change of its files. */
export interface Failed extends Served {
  /** The change as text for the user, such as `index.js is saved`. */
  readonly change: string;
  readonly failure: string;
}

interface PackageCheck {
  /** The failure that the last check found; undefined while the package is served. */
  readonly failed: Failed | undefined;
  /**
   * Checks after a change whether the package is still served, and shows the result. `change` is text such as `index.js is saved`. Returns
   * the state; undefined if the panel cannot check the package.
   */
  readonly check: (change: string) => Promise<Served | undefined>;
  /** Removes the result of the last check. Runs when a new change starts. */
  readonly reset: () => void;
}

/** Provides a check whether the daemon still serves the package of a folder after a change of its files. */
export function usePackageCheck(folder: Folder): PackageCheck {
  const { toasts } = usePanel();
  const client = useApi(servedOperations);
  const servedAt = useServedAt();
  const [failed, setFailed] = useState<Failed>();
  const reset = () => setFailed(undefined);
  const check = async (change: string) => {
    reset();
    const served = await askServed(folder, { client, servedAt, fetch: (...call) => fetch(...call) }).catch(() => undefined);
    const failure = served?.failure;
    setFailed(failure === undefined ? undefined : { text: served?.text ?? "", failure, change });
    if (failure === undefined) toasts.say(`${change}${served ? `; ${served.text}` : ""}.`);
    return served;
  };
  return { failed, check, reset };
}
