import { useState } from "react";
import { useApi } from "../../live/use-api.js";
import { useServedAt } from "../../live/use-served-at.js";
import { usePanel } from "../../use-panel.js";
import { askServed, servedOperations, type Served } from "./ask-served.js";
import type { Folder } from "./package-ref.js";

/** A package that stopped being served after a change of its files. */
export interface Failed extends Served {
  /** The change as a phrase, such as `index.js is saved`. */
  readonly change: string;
  readonly failure: string;
}

interface PackageCheck {
  /** The failure that the last check found; undefined while the package is served. */
  readonly failed: Failed | undefined;
  /** Requests the package after this change, such as `index.js is saved`, and shows its response. */
  readonly check: (change: string) => Promise<void>;
  /** Removes the result of the last check, since a new change has started. */
  readonly reset: () => void;
}

/** Whether the package of a folder is still served after a change of its files. */
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
  };
  return { failed, check, reset };
}
