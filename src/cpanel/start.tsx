import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.js";
import "./fonts.css";
import "./tokens.css";
import "./base.css";
import { openPanel } from "./panel.js";

/** Renders the panel into the element `#root` of the page. */
export function start(): void {
  const root = document.getElementById("root");
  if (!root) throw new Error("the page has no place for the panel");
  createRoot(root).render(
    <StrictMode>
      <App panel={openPanel()} />
    </StrictMode>,
  );
}
