import { useState } from "react";
import * as health from "../../shared/contract/health.js";
import { Button } from "../components/button.js";
import { useApi } from "../live/use-api.js";
import { useResource } from "../live/use-resource.js";
import { useMay } from "../session/use-principal.js";
import "./banner.css";

const operations = { health: { ready: health.ready } };
const intervalMs = 60_000;

/**
 * Warns about settings that give keys more access than their permissions allow. A warning disappears when the user hides it or the setting
 * changes.
 */
export function AccessWarning() {
  const api = useApi(operations);
  const isWanted = useMay("keys:read");
  const { data } = useResource("health.verbose", () => api.health.ready({ query: { verbose: "1" } }), { intervalMs, isWanted });
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const warnings = (data?.checks ?? []).filter(
    ({ name, status }) => (name === "panel-origin" || name === "plugin-uploads") && status !== "ok" && !hidden.includes(name),
  );
  return warnings.map(({ name, message = "" }) => (
    <div key={name} className="banner banner-warn banner-stacked" role="status">
      <p>{message.charAt(0).toUpperCase() + message.slice(1)}.</p>
      <Button onPress={() => setHidden([...hidden, name])}>Hide</Button>
    </div>
  ));
}
