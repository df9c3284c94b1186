import { useEffect, useState } from "react";

/** Whether the component has stayed for so long: what is passed by while scrolling is not worth a request. */
export function useIsSettled(afterMs: number): boolean {
  const [isSettled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), afterMs);
    return () => clearTimeout(timer);
  }, [afterMs]);
  return isSettled;
}
