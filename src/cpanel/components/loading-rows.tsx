import { useEffect, useState } from "react";
import "./loading-rows.css";

/** Delay before the loading placeholder appears. Without the delay, the placeholder would flicker when a response arrives quickly. */
const patienceMs = 250;

/** Placeholder for the rows of a list that is loading. */
export function LoadingRows({ noun }: { noun: string }) {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), patienceMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading-rows" role="status">
      {isSlow && (
        <>
          <span className="visually-hidden">Loading {noun}s</span>
          {[1, 2, 3, 4].map((row) => (
            <span key={row} className="loading-row" aria-hidden="true" />
          ))}
        </>
      )}
    </div>
  );
}
