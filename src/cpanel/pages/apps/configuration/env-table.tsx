import { useState } from "react";
import type { WorkerConfig } from "../../../../shared/contract/configuration.js";
import { Button } from "../../../components/button.js";
import { DataTable, type Column } from "../../../components/data-table.js";
import { ErrorMessage } from "../../../components/error-message.js";
import { Icon } from "../../../components/icon.js";
import { RowActions } from "../../../components/row-actions.js";
import type { ConfigSave } from "../../configuration/use-config-change.js";
import { EditVariable } from "./edit-variable.js";

type Variable = WorkerConfig["env"][number];

interface EnvTableProps {
  readonly config: WorkerConfig;
  readonly isEditable: boolean;
  readonly save: ConfigSave;
}

/** Table with the variables in `env`. Values are hidden until the user shows them. */
export function EnvTable({ config, isEditable, save }: EnvTableProps) {
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set());
  const [edited, setEdited] = useState<{ readonly config: WorkerConfig; readonly variable: Variable | undefined }>();
  const [removeError, setRemoveError] = useState(false);
  const toggle = (name: string) =>
    setShown(shown.has(name) ? new Set([...shown].filter((other) => other !== name)) : new Set([...shown, name]));
  const open = (variable: Variable | undefined) => {
    save.reset();
    setRemoveError(false);
    setEdited({ config, variable });
  };
  const remove = async ({ name }: Variable) => {
    const isSaved = await save.save(config, { set: { env: envWithout(config, name) } }, name);
    setRemoveError(!isSaved);
  };
  const columns: Column<Variable>[] = [
    { id: "name", title: "Name", cell: ({ name }) => <code>{name}</code> },
    {
      id: "value",
      title: "Value",
      cell: ({ name, value }) => {
        if (value === null) return <span className="quiet">hidden: needs workers:install</span>;
        const isShown = shown.has(name);
        return (
          <span className="env-value">
            <code className="config-value">{isShown ? value : "••••••••"}</code>
            <Button kind="bare" aria-label={`${isShown ? "Hide" : "Show"} the value of ${name}`} onPress={() => toggle(name)}>
              <Icon name={isShown ? "eye-off" : "eye"} />
            </Button>
          </span>
        );
      },
    },
  ];
  const actions: Column<Variable> = {
    id: "actions",
    title: "Actions",
    isActions: true,
    cell: (variable) => (
      <RowActions
        name={variable.name}
        actions={[
          { title: "Edit", icon: "edit", run: () => open(variable) },
          { title: "Remove", icon: "delete", isDanger: true, isPending: save.isPending, run: () => void remove(variable) },
        ]}
      />
    ),
  };
  return (
    <section className="config-section" aria-labelledby="config-env">
      <div className="config-section-head">
        <h2 id="config-env">Variables</h2>
        {isEditable && (
          <Button onPress={() => open(undefined)}>
            <Icon name="add" /> Add a variable
          </Button>
        )}
      </div>
      {removeError && save.error !== undefined && <ErrorMessage title="The variable was not removed" error={save.error} />}
      {config.env.length === 0 ? (
        <p className="quiet">
          The manifest has no <code>env</code>. Store passwords and tokens as secrets.
        </p>
      ) : (
        <DataTable
          caption="Variables"
          columns={isEditable ? [...columns, actions] : columns}
          rows={config.env}
          keyOf={({ name }) => name}
        />
      )}
      {edited && <EditVariable {...edited} save={save} onClose={() => setEdited(undefined)} />}
    </section>
  );
}

/** Returns `env` without one variable. Returns null, which removes the whole field, if no other variable exists. */
function envWithout({ env }: WorkerConfig, removed: string): Readonly<Record<string, string>> | null {
  const left = env.filter(({ name }) => name !== removed);
  return left.length === 0 ? null : Object.fromEntries(left.map(({ name, value }) => [name, value ?? ""]));
}
