import { useEffect, useState } from "react";
import { usePanel } from "../../use-panel.js";

interface Unsaved {
  /** Somebody tried to leave. */
  readonly isAsking: boolean;
  readonly stay: () => void;
}

/** While there is something unsaved, the page is not left without asking. */
export function useUnsaved(isUnsaved: boolean): Unsaved {
  const { router } = usePanel();
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    if (!isUnsaved) return undefined;
    const hold = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", hold);
    const leave = router.guard(() => {
      setAsking(true);
      return false;
    });
    return () => {
      removeEventListener("beforeunload", hold);
      leave();
      setAsking(false);
    };
  }, [router, isUnsaved]);
  return { isAsking: isUnsaved && isAsking, stay: () => setAsking(false) };
}
