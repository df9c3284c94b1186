import type { ReactNode } from "react";
import "./card.css";
import "./stat-tile.css";

interface StatTileProps {
  readonly label: string;
  /** The displayed figure, without the text in `unit`. */
  readonly value: ReactNode;
  readonly unit?: ReactNode;
  readonly note?: ReactNode;
  /** Color of the figure. Because some users cannot see the color, `note` or `unit` must contain the same information in words. */
  readonly tone?: "plain" | "warn" | "bad";
  /** Content below the figure, such as a `Sparkline`. */
  readonly children?: ReactNode;
}

/** A card that shows one figure. The parent of the cards is an element with the class `stat-tiles`. */
export function StatTile({ label, value, unit, note, tone = "plain", children }: StatTileProps) {
  return (
    <section className="card stat-tile" aria-label={label}>
      <h2 className="stat-tile-label">{label}</h2>
      <p className={`stat-tile-value stat-tile-${tone}`}>
        {value} {unit !== undefined && <span className="stat-tile-unit">{unit}</span>}
      </p>
      {children}
      {note !== undefined && <p className="quiet small">{note}</p>}
    </section>
  );
}
