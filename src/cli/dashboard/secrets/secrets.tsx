import type { SecretList } from "../../../shared/contract/secrets.js";
import { toPathSegments } from "../../../shared/package-name.js";
import { isSecretName, secretNameForm } from "../../../shared/secret-name.js";
import { ago, toMinute } from "../../output/format.js";
import { forceRemoveSecret, removeSecret, setSecret, type SecretTarget } from "../actions/secrets.js";
import { useActions } from "../actions/use-actions.js";
import { Detail } from "../components/detail.js";
import type { Column } from "../components/list.js";
import { ListScreen } from "../components/list-screen.js";
import { RequirePermission } from "../components/require-permission.js";
import { SafeText } from "../components/safe-text.js";
import { usePerforming } from "../keyboard/key-dispatcher.js";
import { useChanges, useIsStale, useQuery } from "../queries/hooks.js";
import { useDashboard, useNavigation } from "../session/hooks.js";

interface Row extends SecretTarget {
  readonly state: "set" | "staged" | "missing";
  /** Time in Unix seconds at which the secret was set. Undefined for a missing secret. */
  readonly setAt: number | undefined;
  readonly setBy: string | undefined;
}

const columns: readonly Column<Row>[] = [
  { heading: "NAME", text: ({ name }) => name },
  {
    heading: "SOURCE",
    width: 10,
    text: ({ isMissing, isOfNamespace }) => (isMissing ? "manifest" : isOfNamespace ? "namespace" : "worker"),
  },
  { heading: "STATE", width: 8, text: ({ state }) => state, color: ({ isMissing }) => (isMissing ? "red" : undefined) },
  { heading: "SET", width: 10, text: ({ setAt }) => (setAt === undefined ? "-" : ago(setAt, Date.now())) },
];

/** Lists the names of a worker's secrets. Never shows a value. */
export function SecretsScreen() {
  const { subject } = useNavigation();
  if (subject === undefined) return <SafeText>select a worker on the screen Workers and press its key for secrets</SafeText>;
  return (
    <RequirePermission permission="workers:read">
      <Secrets key={subject} worker={subject} />
    </RequirePermission>
  );
}

function Secrets({ worker }: { readonly worker: string }) {
  const { show } = useNavigation();
  const secrets = useQuery(`secrets.${worker}`, (client) => client.secrets.list({ params: toPathSegments(worker) }));
  const isStale = useIsStale();
  const { keymap } = useDashboard();
  useNewSecret(worker);
  return (
    <ListScreen
      nouns={["secret", "secrets"]}
      {...{ columns, isStale }}
      keyOf={({ name, state, isOfNamespace }) => `${name} ${state} ${isOfNamespace}`}
      items={secrets.value && toRows(worker, secrets.value)}
      error={secrets.error}
      empty={`no secrets; press ${keymap.keyOf("secrets.new")} to set one`}
      place={worker}
      onBack={() => show("workers", worker)}
      detail={(row) => <SecretDetail row={row} isStale={isStale} />}
    />
  );
}

/** Returns a function that prompts for the value of a secret, with hidden input, and sets the secret. */
function useAskValue(worker: string): (name: string) => void {
  const { overlays } = useDashboard();
  const performing = usePerforming();
  return (name) =>
    overlays.show({
      kind: "prompt",
      prompt: {
        label: `value of ${name}:`,
        initial: "",
        isSecret: true,
        hint: "one line, not shown · enter sets it and starts new isolates · esc cancels",
        onSubmit: (value) => performing(setSecret, { worker, name, value }),
      },
    });
}

/** Registers the shortcut that prompts for the name and value of a new secret. */
function useNewSecret(worker: string): void {
  const { overlays } = useDashboard();
  const askValue = useAskValue(worker);
  const create = () =>
    overlays.show({
      kind: "prompt",
      prompt: {
        label: "name of the secret:",
        initial: "",
        hint: "such as STRIPE_KEY · esc cancels",
        onSubmit: (name) => (isSecretName(name) ? askValue(name) : overlays.say("failed", `a name is ${secretNameForm}`)),
      },
    });
  useChanges({ "secrets.new": create }, "workers:install", [`runtimectl secrets set ${worker} NAME`]);
}

function SecretDetail({ row, isStale }: { readonly row: Row; readonly isStale: boolean }) {
  const { worker, name, state, isOfNamespace, setAt, setBy } = row;
  const askValue = useAskValue(worker);
  useActions([removeSecret, forceRemoveSecret], row, `runtimectl secrets list ${worker}`);
  useChanges({ "secrets.set": () => askValue(name) }, "workers:install", [setSecret.line({ worker, name, value: "" })]);
  const setFact = setAt === undefined ? [] : [{ name: "set", value: `${toMinute(setAt)} (${ago(setAt, Date.now())}) by ${setBy}` }];
  return (
    <Detail
      title={name}
      isStale={isStale}
      facts={[stateFactOf(state), { name: "of", value: ownerOf(worker, isOfNamespace) }, ...setFact]}
    />
  );
}

function ownerOf(worker: string, isOfNamespace: boolean): string {
  return isOfNamespace ? `the namespace ${worker.split("/")[0]}; a secret of the worker overrides it` : worker;
}

function stateFactOf(state: Row["state"]) {
  if (state === "missing")
    return { name: "state", value: "missing: the active version requires it and cannot start without it", color: "red" };
  return { name: "state", value: state === "staged" ? "staged: takes effect with the next upload" : "set; the value is never shown" };
}

function toRows(worker: string, { secrets, missing }: SecretList): Row[] {
  return [
    ...missing.map((name) => ({
      worker,
      name,
      isOfNamespace: false,
      isMissing: true,
      state: "missing" as const,
      setAt: undefined,
      setBy: undefined,
    })),
    ...secrets.map(({ name, source, staged, setAt, setBy }) => ({
      worker,
      name,
      isOfNamespace: source === "namespace",
      isMissing: false,
      state: staged ? ("staged" as const) : ("set" as const),
      setAt,
      setBy,
    })),
  ];
}
