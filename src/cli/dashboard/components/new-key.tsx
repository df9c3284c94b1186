import { Box } from "ink";
import type { Principal } from "../../../shared/contract/principal.js";
import { useKeyForm, type KeyForm } from "../hooks/use-key-form.js";
import { useKeyScope } from "../hooks/use-key-scope.js";
import { useQuery } from "../hooks/use-query.js";
import { endOfLifetime } from "../key-form-state.js";
import type { Session } from "../session.js";
import { ChoiceLine } from "./choice-line.js";
import { PermissionGrid } from "./permission-grid.js";
import { PromptLine } from "./prompt-line.js";
import { SafeText } from "./safe-text.js";

const labelWidth = 11;

interface Props {
  readonly session: Session;
  readonly onClose: () => void;
}

/** The form for a new key. What the key in use does not hold itself cannot be chosen. */
export function NewKey({ session, onClose }: Props) {
  const principal = useQuery("session", (client) => client.session.show()).value?.principal;
  return principal ? <Fields {...{ session, principal, onClose }} /> : <SafeText>loading…</SafeText>;
}

function Fields({ session, principal, onClose }: Props & { readonly principal: Principal }) {
  const form = useKeyForm(session, principal);
  const { draft, field, change, isBusy, message } = form;
  const takeKey = (key: string) => {
    if (form.onKey(key)) return;
    if (key === "enter") form.onSubmit();
    else if (key === "esc") onClose();
  };
  return (
    <Box flexDirection="column" paddingX={1}>
      <SafeText bold>New key: tab goes on, space and arrows choose, enter at the end creates</SafeText>
      <TextField name="name" label="name" {...{ form, onClose }} />
      <ChoiceLine
        label={"role".padEnd(labelWidth)}
        choices={form.grantableRoles}
        chosen={draft.role}
        isActive={field === "role" && !isBusy}
        onChoose={(role) => change({ role })}
        onKey={takeKey}
      />
      {draft.role === "custom" && (
        <PermissionGrid
          permissions={principal.permissions}
          chosen={draft.permissions}
          isActive={field === "permissions" && !isBusy}
          onChoose={(permissions) => change({ permissions })}
          onKey={takeKey}
        />
      )}
      <TextField name="namespaces" label="namespaces" {...{ form, onClose }} />
      <TextField name="lifetime" label={`lifetime (${endOfLifetime(draft.lifetime) ?? "30d, 2w, 6m, 1y, never"})`} {...{ form, onClose }} />
      {isBusy ? (
        <Creating />
      ) : (
        <SafeText color="yellow" wrap="wrap">
          {message ?? " "}
        </SafeText>
      )}
    </Box>
  );
}

interface TextFieldProps {
  readonly name: "name" | "namespaces" | "lifetime";
  readonly label: string;
  readonly form: KeyForm;
  readonly onClose: () => void;
}

function TextField({ name, label, form, onClose }: TextFieldProps) {
  const padded = label.padEnd(labelWidth);
  if (form.field !== name || form.isBusy) return <SafeText>{`${padded} ${form.draft[name]}`}</SafeText>;
  return (
    <PromptLine
      label={padded}
      initial={form.draft[name]}
      onChange={(text) => form.change({ [name]: text })}
      onSubmit={form.onSubmit}
      onCancel={onClose}
      onKey={form.onKey}
    />
  );
}

/** A key may come of it: nothing else can be done until that is known. */
function Creating() {
  useKeyScope({ handlers: {}, isModal: true, takeKey: () => true });
  return <SafeText>creating the key …</SafeText>;
}
