import { useState } from "react";

export interface Attempt {
  readonly isPending: boolean;
  /** Error of the last run; undefined while the next one is pending. */
  readonly error: unknown;
  /** Runs the action unless another one is pending. Resolves with true if it succeeded. */
  readonly run: (action: () => Promise<void>) => Promise<boolean>;
}

/** State of a user action: runs one at a time and keeps its error until the next run. */
export function useMutation(): Attempt {
  const [error, setError] = useState<unknown>();
  const [isPending, setPending] = useState(false);
  const run = async (action: () => Promise<void>) => {
    if (isPending) return false;
    setPending(true);
    setError(undefined);
    try {
      await action();
      return true;
    } catch (thrown) {
      setError(thrown);
      return false;
    } finally {
      setPending(false);
    }
  };
  return { isPending, error, run };
}
