import { Box } from "ink";
import { useEffect, useState, useSyncExternalStore } from "react";
import type { Profile } from "../../config/config-file.js";
import { CredentialsFile } from "../../config/credentials-file.js";
import { profileName } from "../../config/profile-name.js";
import { readProfiles } from "../../config/read-profiles.js";
import { parseKey, parseOrigin, resolveSettings } from "../../config/settings.js";
import { List, placeColumns, type Column } from "../components/list.js";
import { PromptLine } from "../components/prompt-line.js";
import { SafeText } from "../components/safe-text.js";
import type { Dashboard } from "../dashboard.js";
import { useDashboard } from "../session/hooks.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import { useSize } from "../terminal/terminal-size.js";
import { reasonOf } from "../session/session.js";

const columns: readonly Column<Row>[] = [
  { heading: "PROFILE", width: 24, text: ({ name, isInUse }) => `${name}${isInUse ? " (in use)" : ""}` },
  { heading: "URL", width: 34, text: ({ url }) => url },
  { heading: "KEY", width: 7, text: ({ hasKey }) => (hasKey ? "stored" : "missing") },
  { heading: "", width: 10, text: ({ production }) => (production ? "PRODUCTION" : ""), color: () => "red" },
];

/** Number of rows besides the profiles: the headings, the prompt, and two for the reason why no session is open. */
const otherRows = 4;

interface Row extends Profile {
  readonly name: string;
  /** Whether the session uses the profile. */
  readonly isInUse: boolean;
  /** Whether the profile is the default in config.yaml, which `profile use` sets. */
  readonly isDefault: boolean;
  readonly hasKey: boolean;
}

type Step = { readonly kind: "list" } | { readonly kind: "url" } | { readonly kind: "key"; readonly name: string; readonly url: string };

/** Lists the profiles, and lets the user select a profile or sign in to a daemon. */
export function ConnectScreen() {
  const dashboard = useDashboard();
  const { sessions, overlays } = dashboard;
  const state = useSyncExternalStore(sessions.subscribe, sessions.state);
  const [step, setStep] = useState<Step>({ kind: "list" });
  const [selectedName, setSelectedName] = useState<string>();
  const { columns: width, rows: height } = useSize();
  const inUse = state.kind === "open" ? state.session.settings.profile?.value : state.profile;
  const [rows, setRows] = useState<readonly Row[]>();
  useEffect(() => {
    readRows(dashboard, inUse).then(setRows, (error: unknown) => overlays.say("failed", reasonOf(error)));
  }, [dashboard, overlays, inUse, state]);
  const index = rows === undefined ? 0 : Math.max(0, selectedIndexOf(rows, selectedName));
  const selected = rows?.[index];
  const listRows = Math.max(1, Math.min(rows?.length ?? 0, height - otherRows));
  const toKey = ({ name, url }: Pick<Row, "name" | "url">) => setStep({ kind: "key", name, url });
  useKeyScope({
    handlers: {
      ...(rows && rows.length > 1
        ? {
            "list.down": () => setSelectedName(rows[Math.min(index + 1, rows.length - 1)]?.name),
            "list.up": () => setSelectedName(rows[Math.max(0, index - 1)]?.name),
          }
        : {}),
      ...(selected ? { "list.open": () => (selected.hasKey ? void sessions.open(selected.name) : toKey(selected)) } : {}),
      "connect.signIn": () => (selected ? toKey(selected) : setStep({ kind: "url" })),
    },
  });
  const keep = (text: string, { name, url }: { name: string; url: string }) => {
    setStep({ kind: "list" });
    overlays.say("note", `connecting to ${url} …`);
    void signIn(dashboard, { name, url, key: text }).then(
      (done) => overlays.say("done", done),
      (error: unknown) => overlays.say("failed", reasonOf(error)),
    );
  };
  return (
    <Box flexDirection="column" height={height}>
      {state.kind === "none" && state.reason !== "" && (
        <SafeText color="yellow" wrap="wrap">
          {state.reason}
        </SafeText>
      )}
      {rows?.length === 0 && (
        <SafeText>{`No profiles. Press ${dashboard.keymap.keyOf("connect.signIn")} to sign in to a daemon.`}</SafeText>
      )}
      {rows && rows.length > 0 && (
        <List
          {...{ width }}
          columns={placeColumns(columns, rows, width)}
          items={rows}
          keyOf={({ name }) => name}
          selectedIndex={index}
          firstIndex={Math.max(0, index + 1 - listRows)}
          height={listRows + 1}
          isStale={false}
        />
      )}
      {step.kind === "url" && (
        <PromptLine
          label="URL of the daemon:"
          initial="http://127.0.0.1:8000"
          onSubmit={(url) => toKey({ name: "default", url })}
          onCancel={() => setStep({ kind: "list" })}
        />
      )}
      {step.kind === "key" && (
        <PromptLine
          label={`key for ${step.url}:`}
          isSecret
          onSubmit={(text) => keep(text, step)}
          onCancel={() => setStep({ kind: "list" })}
        />
      )}
    </Box>
  );
}

/** Returns the index of the row with the name. Without a name, returns the index of the profile in use, or of the default profile. */
function selectedIndexOf(rows: readonly Row[], name: string | undefined): number {
  if (name !== undefined) return rows.findIndex((row) => row.name === name);
  const inUse = rows.findIndex(({ isInUse }) => isInUse);
  return inUse === -1 ? rows.findIndex(({ isDefault }) => isDefault) : inUse;
}

async function readRows({ context }: Dashboard, inUse: string | undefined): Promise<Row[]> {
  const directory = context.directories.config;
  const [{ current, profiles }, credentials] = [await readProfiles(directory), CredentialsFile.open(directory)];
  return [...profiles].map(([name, profile]) => ({
    ...profile,
    name,
    isInUse: name === inUse,
    isDefault: name === current,
    hasKey: credentials.get(name)?.origin === profile.url,
  }));
}

/** Signs in to a daemon as `auth login` does, and opens a session of the dashboard. */
async function signIn(
  { context, sessions }: Dashboard,
  { name, url, key: text }: { name: string; url: string; key: string },
): Promise<string> {
  const { ConfigFile } = await import("../../config/config-file.js");
  const { keepKey, verifyKey } = await import("../../config/sign-in.js");
  const directory = context.directories.config;
  const [config, credentials] = [ConfigFile.open(directory), CredentialsFile.open(directory)];
  const { profile: _profile, ...flags } = context.flags;
  const settings = await resolveSettings({ ...context, flags: { ...flags, url: parseOrigin(url, "the URL") } });
  const key = parseKey(text, "the input");
  const verified = await verifyKey(context, settings, key, "the prompt");
  await keepKey(verified, { config, credentials, settings, name: profileName(name), profile: {} });
  await sessions.open(name);
  return `signed in to ${settings.origin.value} as ${verified.principal.name} (${verified.principal.role}); the key is stored in ${credentials.file}`;
}
