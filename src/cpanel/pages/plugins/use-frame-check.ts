import { useEffect, useState } from "react";
import { checkFrame, type FrameRefusal } from "./frame-check.js";

type FrameState =
  | { readonly phase: "asking" }
  | { readonly phase: "answered"; readonly refusal: FrameRefusal | undefined }
  | { readonly phase: "unanswered"; readonly error: unknown };

/** Checks whether the panel can show a plugin's page in a frame. Calling `again` repeats the check. */
export function useFrameCheck(url: string): { readonly state: FrameState; readonly again: () => void } {
  const [state, setState] = useState<FrameState>({ phase: "asking" });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    setState({ phase: "asking" });
    checkFrame(url, leaving.signal).then(
      (refusal) => setState({ phase: "answered", refusal }),
      (error: unknown) => {
        if (!leaving.signal.aborted) setState({ phase: "unanswered", error });
      },
    );
    return () => leaving.abort();
  }, [url, attempt]);
  return { state, again: () => setAttempt(attempt + 1) };
}
