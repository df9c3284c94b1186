import { useState } from "react";

export interface Attempt {
  readonly isPending: boolean;
  /** Error that the last action threw. Undefined if the last action succeeded or is still running. */
  readonly error: unknown;
  /** Removes the error. */
  readonly dismiss: () => void;
  /**
   * Runs an action and resolves with true if the action succeeds. If another action is pending, resolves with false and does not run the
   * action.
   */
  readonly run: (action: () => Promise<void>) => Promise<boolean>;
}

/** Runs user actions, at most one at a time, and provides the state and the error of the last action. */
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
  return { isPending, error, dismiss: () => setError(undefined), run };
}
