import { useState, type FormEvent } from "react";
import { usualLifetime, type NewKey } from "../../../shared/contract/keys.js";
import { Button } from "../../components/button.js";
import { ErrorMessage } from "../../components/error-message.js";
import { LoadingRows } from "../../components/loading-rows.js";
import { PageHeading } from "../../components/page-heading.js";
import { EmptyState } from "../../components/empty-state.js";
import { TextInput } from "../../components/text-input.js";
import { useMutation } from "../../components/use-mutation.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { PanelLink } from "../../router/panel-link.js";
import { useMay, usePrincipal } from "../../session/use-principal.js";
import { mayGrant, namespacesOf, problemsOf, type KeyFormState } from "./key-form-state.js";
import { keyOperations } from "./key-operations.js";
import { KeyRights } from "./key-rights.js";
import { KeySummary } from "./key-summary.js";
import { LifetimeChoice } from "./lifetime-choice.js";
import "./keys.css";

/** Form that creates a key. The new key cannot have permissions that the current key lacks. */
export function KeyForm({ onCreated }: { onCreated: (created: NewKey) => void }) {
  const mayCreate = useMay("keys:create");
  const api = useApi(keyOperations);
  const meta = useResource("keys.meta", () => api.keys.meta(), { intervalMs: Infinity, isWanted: mayCreate && useMay("keys:read") });
  const principal = usePrincipal();
  const { isPending, error, run } = useMutation();
  const [isTried, setTried] = useState(false);
  const [draft, setDraft] = useState<KeyFormState>(() => ({
    name: "",
    role: "viewer",
    permissions: [],
    namespaces: principal.namespaces.join(" "),
    expiresIn: usualLifetime(principal, Date.now() / 1000),
  }));
  const change = (part: Partial<KeyFormState>) => setDraft((before) => ({ ...before, ...part }));
  const problems = problemsOf(draft);
  const shownProblems = isTried ? problems : {};
  const create = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(problems).length > 0) return;
    await run(async () => {
      const { name, role, permissions, expiresIn } = draft;
      const custom = role === "custom" ? { permissions: [...permissions] } : {};
      const body = { name: name.trim(), role, expiresIn: expiresIn.trim(), namespaces: namespacesOf(draft), ...custom };
      onCreated((await api.keys.create({ body })).data);
    });
  };
  if (!mayCreate) return <NoPermission />;
  return (
    <>
      <PageHeading title="New key" note={<PanelLink to="keys">All keys</PanelLink>} />
      {meta.data === undefined && meta.error !== undefined && <ErrorMessage title="The roles could not be read" error={meta.error} />}
      {meta.data === undefined && meta.error === undefined && <LoadingRows noun="role" />}
      {meta.data && (
        <form className="key-form" onSubmit={(event) => void create(event)} noValidate>
          <TextInput
            label="Name"
            hint="The user or program that uses it, such as ci-deploy."
            value={draft.name}
            onChange={(name) => change({ name })}
            error={shownProblems.name}
            maxLength={100}
            autoComplete="off"
          />
          <KeyRights meta={meta.data} draft={draft} onChange={change} problem={shownProblems.permissions} />
          <TextInput
            label="Namespaces"
            hint={
              principal.namespaces.includes("*")
                ? "* for all, or scopes such as @team, separated by spaces."
                : `Of those of your key: ${principal.namespaces.join(" ")}`
            }
            value={draft.namespaces}
            onChange={(namespaces) => change({ namespaces })}
            error={shownProblems.namespaces}
            autoComplete="off"
          />
          <LifetimeChoice value={draft.expiresIn} onChange={(expiresIn) => change({ expiresIn })} problem={shownProblems.expiresIn} />
          <KeySummary draft={draft} />
          {error !== undefined && <ErrorMessage title="The key was not created" error={error} />}
          <div className="key-form-buttons">
            <Button type="submit" kind="primary" isPending={isPending} isDisabled={!mayGrant(principal, draft.permissions)}>
              Create key
            </Button>
          </div>
        </form>
      )}
    </>
  );
}

function NoPermission() {
  return (
    <>
      <PageHeading title="New key" note={<PanelLink to="keys">All keys</PanelLink>} />
      <EmptyState title="This key cannot create keys">
        That needs the permission <code>keys:create</code>. Ask the operator for a key that has it.
      </EmptyState>
    </>
  );
}
