import { useState } from "react";

export interface Attempt {
  readonly isPending: boolean;
  /** Error that the last action threw. Undefined after a success and while the next action runs. */
  readonly error: unknown;
  /** Runs an action, unless another action is pending. Resolves with true if the action succeeded. */
  readonly run: (action: () => Promise<void>) => Promise<boolean>;
}

/** Runs user actions, one at a time. Provides the pending state, and the error of the last action until the next action starts. */
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
