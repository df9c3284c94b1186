import { useId, useState, type ReactNode } from "react";
import { Button } from "../../components/button.js";
import { ErrorMessage } from "../../components/error-message.js";
import { Icon } from "../../components/icon.js";
import { Popover } from "../../components/popover.js";
import { saveAs } from "../../components/save-as.js";
import { SearchField } from "../../components/search-field.js";
import { SelectField } from "../../components/select-field.js";
import { Toolbar } from "../../components/toolbar.js";
import { useMutation } from "../../components/use-mutation.js";
import { useApi } from "../../live/use-api.js";
import { useSearch } from "../../router/use-search.js";
import { usePanel } from "../../use-panel.js";
import { exportFormats, exportText, readAllEntries, type ExportFormat } from "./log-export.js";
import { logOperations } from "./log-follower.js";
import { levelChoices, sourceChoices, statusChoices, timeChoices, type LogQuery } from "./log-query.js";

interface LogToolbarProps {
  readonly query: LogQuery;
  /** Versions to choose from. Undefined on the page of all apps. */
  readonly versions: readonly string[] | undefined;
  readonly appNames: readonly string[];
  /** Names or ids of the daemons to choose from. Empty if there is only one daemon. */
  readonly instances: readonly string[];
  readonly isWrapped: boolean;
  readonly onWrap: (isWrapped: boolean) => void;
  /** State of the stream. */
  readonly phase: ReactNode;
}

/** The filters of a log, the line wrapping and the export. Pages below 720 px show the filters only after a press of `Filters`. */
export function LogToolbar({ query, versions, appNames, instances, isWrapped, onWrap, phase }: LogToolbarProps) {
  const [text, setText] = useSearch("text");
  const [level, setLevel] = useSearch("level");
  const [source, setSource] = useSearch("source");
  const [version, setVersion] = useSearch("version");
  const [app, setApp] = useSearch("app");
  const [instance, setInstance] = useSearch("instance");
  const [status, setStatus] = useSearch("status");
  const [since, setSince] = useSearch("since");
  const [, setUntil] = useSearch("until");
  const [isOpen, setOpen] = useState(false);
  const filters = useId();
  const changeTime = (value: string) => {
    if (value === since) return;
    setUntil("");
    setSince(value);
  };
  const count = [instance, level, source, versions === undefined ? app : version, status, since].filter((value) => value !== "").length;
  return (
    <div className="log-toolbar">
      <Toolbar label="Filter logs">
        <SearchField label="Search in text" value={text} onChange={setText} />
        <button
          type="button"
          className="button button-plain log-filters-button"
          aria-expanded={isOpen}
          aria-controls={filters}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="filter" /> Filters{count > 0 && ` (${count})`}
        </button>
        <div id={filters} className={isOpen ? "log-filters log-filters-open" : "log-filters"}>
          {versions === undefined && <SelectField label="App" value={app} onChange={setApp} choices={choicesOf("All apps", appNames)} />}
          {instances.length > 0 && (
            <SelectField label="Instance" value={instance} onChange={setInstance} choices={choicesOf("All instances", instances)} />
          )}
          <SelectField label="Level" value={level} onChange={setLevel} choices={levelChoices} />
          <SelectField label="Source" value={source} onChange={setSource} choices={sourceChoices} />
          {versions !== undefined && (
            <SelectField label="Version" value={version} onChange={setVersion} choices={choicesOf("All versions", versions)} />
          )}
          <SelectField label="Status" value={status} onChange={setStatus} choices={statusChoices} />
          <SelectField label="Time" value={query.since ?? ""} onChange={changeTime} choices={timeChoices(query)} />
        </div>
        <Button aria-pressed={isWrapped} onPress={() => onWrap(!isWrapped)}>
          Wrap
        </Button>
        <Export query={query} />
        <span role="status" className="log-phase">
          {phase}
        </span>
      </Toolbar>
    </div>
  );
}

function choicesOf(all: string, names: readonly string[]): { value: string; label: string }[] {
  return [{ value: "", label: all }, ...names.map((name) => ({ value: name, label: name }))];
}

/** Downloads all entries that the filters select, also those that the browser has not loaded. */
function Export({ query }: { query: LogQuery }) {
  const client = useApi(logOperations);
  const { toasts } = usePanel();
  const { isPending, error, run } = useMutation();
  const save = async (format: ExportFormat) => {
    await run(async () => {
      const { entries, missing } = await readAllEntries(client, query);
      const { extension, type } = exportFormats[format];
      const name = (query.worker ?? "all-apps").replaceAll(/[^\w.-]+/g, "-").replace(/^-/, "");
      saveAs(exportText(entries, format), `${name}.${extension}`, type);
      toasts.say(`${entries.length.toLocaleString("en-GB")} ${entries.length === 1 ? "entry" : "entries"} exported. ${missing}`.trim());
    });
  };
  return (
    <Popover
      label="Export"
      button={
        <>
          <Icon name="download" /> Export
        </>
      }
    >
      <p className="quiet small">All entries that the filters select, at most the newest 100,000.</p>
      {(Object.keys(exportFormats) as ExportFormat[]).map((format) => (
        <Button key={format} isPending={isPending} onPress={() => void save(format)}>
          {exportFormats[format].title}
        </Button>
      ))}
      {error !== undefined && <ErrorMessage title="The entries could not be read" error={error} />}
    </Popover>
  );
}
