import type { ReactNode } from "react";
import "./card.css";
import "./facts.css";

/** A card with a list of names and values. */
export function Facts({ label, children }: { label: string; children: ReactNode }) {
  const id = `facts-${label.toLowerCase().replaceAll(" ", "-")}`;
  return (
    <section className="card" aria-labelledby={id}>
      <h2 id={id}>{label}</h2>
      <dl className="facts">{children}</dl>
    </section>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
