import { instanceLabel, missingInstances } from "../../../shared/instance-list.js";
import { StateDot } from "../../components/state-dot.js";
import { useInstances } from "./use-instances.js";
import "./instances.css";

interface MissingInstancesProps {
  /** Name or id of the only daemon whose entries the page shows. If empty or undefined, the page shows the entries of all daemons. */
  readonly instance?: string | undefined;
  /** Plural noun for the entries or values, such as `lines`. */
  readonly noun: string;
}

/** Names the daemons whose entries or values the page lacks, with the reasons. Renders nothing if all daemons respond. */
export function MissingInstances({ instance: only = "", noun }: MissingInstancesProps) {
  const { data = [] } = useInstances();
  const missing = missingInstances(data, only);
  if (missing.length === 0) return null;
  return (
    <div className="missing-instances" role="status">
      {missing.map((one) => (
        <p key={one.id}>
          <StateDot state="degraded">{`The ${noun} of ${instanceLabel(one, data)} are missing.`}</StateDot>{" "}
          <span className="quiet">{one.problem}</span>
        </p>
      ))}
    </div>
  );
}
