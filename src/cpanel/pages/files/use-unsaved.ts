import { useEffect, useState } from "react";
import { usePanel } from "../../use-panel.js";

interface Unsaved {
  /** Whether the user tried to leave the page and must decide about the unsaved changes. */
  readonly isAsking: boolean;
  readonly stay: () => void;
}

/** Keeps the page open if the user tries to leave it with unsaved changes. */
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
