import type { ReactNode } from "react";
import "./segments.css";

export interface Segment {
  readonly value: string;
  readonly title: ReactNode;
}

interface SegmentsProps {
  /** Name of the choice for screen readers, such as `State`. */
  readonly label: string;
  readonly segments: readonly Segment[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A row of buttons of which one is pressed, such as a filter with few values. */
export function Segments({ label, segments, value, onChange }: SegmentsProps) {
  return (
    <div role="group" aria-label={label} className="segments">
      {segments.map((segment) => (
        <button key={segment.value} type="button" aria-pressed={segment.value === value} onClick={() => onChange(segment.value)}>
          {segment.title}
        </button>
      ))}
    </div>
  );
}
