import * as workers from "../../../shared/contract/workers.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { PanelLink } from "../../router/panel-link.js";

const operations = { workers: { list: workers.list } };

/** Card with instructions for the first upload. Hidden when an uploaded app exists. */
export function FirstSteps() {
  const api = useApi(operations);
  const { data } = useResource("workers", () => api.workers.list());
  if (!data || data.some(({ source }) => source === "uploaded")) return null;
  return (
    <section className="card" aria-labelledby="overview-steps">
      <h2 id="overview-steps">Three first steps</h2>
      <ol className="steps">
        <li>
          <strong>Make a folder that can be served:</strong> an HTML page, or a module with <code>fetch</code>.
          <pre>runtimectl init ./hello</pre>
        </li>
        <li>
          <strong>Upload it</strong> in <PanelLink to="apps">Apps</PanelLink>, or from a terminal:
          <pre>runtimectl workers upload ./hello</pre>
        </li>
        <li>
          <strong>Give others a key of their own</strong> in <PanelLink to="keys">Keys</PanelLink>, one that ends and may do no more than it
          needs.
        </li>
      </ol>
    </section>
  );
}
