import { useState } from "react";

export interface Attempt {
  readonly isPending: boolean;
  /** Why the last one failed; undefined while another one runs. */
  readonly error: unknown;
  /** Runs it unless one runs already; resolves with whether it succeeded. */
  readonly run: (action: () => Promise<void>) => Promise<boolean>;
}

/** Something that a person has the daemon do: one at a time, and what went wrong stays to be shown. */
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
