import { useEffect, useState } from "react";
import { usePanel } from "../../use-panel.js";

interface Unsaved {
  /** The user tried to leave the page. */
  readonly isAsking: boolean;
  readonly stay: () => void;
}

/** Asks before a page with unsaved changes is left. */
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
