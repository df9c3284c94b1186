import { shellWord } from "../../output/shell-word.js";
import { Box } from "ink";
import { useEffect, useRef, useState } from "react";
import { useDashboard, useNavigation } from "../session/hooks.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import { useSize } from "../terminal/terminal-size.js";
import { UploadSession } from "./upload-session.js";
import { reasonOf, type Session } from "../session/session.js";
import { hereFolder } from "../palette/complete-path.js";
import { Detail } from "../components/detail.js";
import { progressText } from "./progress-text.js";
import { PathPrompt } from "../components/path-prompt.js";
import { Waiting } from "../components/waiting.js";
import { SafeText } from "../components/safe-text.js";

interface Props {
  readonly session: Session;
  readonly onClose: () => void;
}

type Step =
  | { readonly kind: "path"; readonly initial: string; readonly problem?: string }
  | { readonly kind: "packing"; readonly source: string }
  | { readonly kind: "preview"; readonly source: string; readonly upload: UploadSession }
  | { readonly kind: "sending"; readonly source: string; readonly upload: UploadSession };

/** Uploads a folder or an archive: prompts for the path, shows a preview, and uploads after the user confirms. */
export function UploadOverlay({ session, onClose }: Props) {
  const { overlays } = useDashboard();
  const navigation = useNavigation();
  const [step, setStep] = useState<Step>({ kind: "path", initial: hereFolder });
  const end = useRef(new AbortController());
  const prepared = useRef<UploadSession>(undefined);
  useEffect(
    () => () => {
      end.current.abort(new Error("cancelled"));
      prepared.current?.discard();
    },
    [],
  );
  const cancel = (consequence: string) => {
    overlays.say("note", consequence);
    onClose();
  };
  const prepare = async (source: string) => {
    setStep({ kind: "packing", source });
    const { signal } = end.current;
    try {
      const upload = await UploadSession.prepare(session, source, signal);
      prepared.current = upload;
      setStep({ kind: "preview", source, upload });
    } catch (error) {
      if (!signal.aborted) setStep({ kind: "path", initial: source, problem: reasonOf(error) });
    }
  };
  const failed = (source: string, error: unknown) => {
    prepared.current?.discard();
    setStep({ kind: "path", initial: source, problem: reasonOf(error) });
  };
  if (step.kind === "path") return <SourcePrompt {...step} onSubmit={(source) => void prepare(source)} onCancel={onClose} />;
  if (step.kind === "packing")
    return <Waiting text={`packing ${step.source} …`} onCancel={() => cancel("cancelled; nothing was uploaded")} />;
  if (step.kind === "preview")
    return (
      <Preview
        {...{ session, step }}
        onAgreed={() => setStep({ ...step, kind: "sending" })}
        onCancel={() => cancel("cancelled; nothing was uploaded")}
      />
    );
  return (
    <Sending
      upload={step.upload}
      onCancel={cancel}
      onFailed={(error) => failed(step.source, error)}
      onDone={({ name, version, text }) => {
        overlays.say("done", text);
        navigation.show("workers", `${name}@${version}`);
        session.live.refresh();
        onClose();
      }}
    />
  );
}

interface SourceProps {
  readonly initial: string;
  readonly problem?: string;
  readonly onSubmit: (source: string) => void;
  readonly onCancel: () => void;
}

function SourcePrompt({ problem, ...prompt }: SourceProps) {
  return (
    <>
      <PathPrompt {...prompt} label="folder or archive to upload:" hint="tab completes · enter packs and shows a preview · esc cancels" />
      {problem !== undefined && (
        <SafeText color="red" wrap="wrap">
          {problem}
        </SafeText>
      )}
    </>
  );
}

interface PreviewProps {
  readonly session: Session;
  readonly step: Extract<Step, { kind: "preview" }>;
  readonly onAgreed: () => void;
  readonly onCancel: () => void;
}

function Preview({ session: { settings }, step: { source, upload }, onAgreed, onCancel }: PreviewProps) {
  const { rows } = useSize();
  useKeyScope({
    handlers: {},
    isModal: true,
    takeKey: (key) => {
      if (key === "enter") onAgreed();
      else onCancel();
      return true;
    },
  });
  const line = `runtimectl workers upload ${shellWord(source)}`;
  const facts = [...upload.facts, { name: "to", value: settings.origin.value }, { name: "command", value: line }];
  return (
    <Box flexDirection="column" height={rows}>
      <SafeText bold {...(settings.isProduction ? { color: "red" } : {})}>
        {settings.isProduction ? "Upload to PRODUCTION?" : "Upload?"}
      </SafeText>
      <Box height={Math.min(facts.length, rows - 2)} flexShrink={0}>
        <Detail facts={facts} />
      </Box>
      <SafeText>enter uploads · any other key cancels</SafeText>
    </Box>
  );
}

interface SendingProps {
  readonly upload: UploadSession;
  readonly onCancel: (consequence: string) => void;
  readonly onFailed: (error: unknown) => void;
  readonly onDone: (installed: Awaited<ReturnType<UploadSession["send"]>>) => void;
}

function Sending({ upload, onCancel, onFailed, onDone }: SendingProps) {
  const [bytes, setBytes] = useState(0);
  const outcome = useRef({ onFailed, onDone });
  outcome.current = { onFailed, onDone };
  useEffect(() => {
    let [sentBytes, isHere] = [0, true];
    const send = upload.send((count) => {
      sentBytes += count;
      if (isHere) setBytes(sentBytes);
    });
    send.then(
      (installed) => isHere && outcome.current.onDone(installed),
      (error: unknown) => isHere && outcome.current.onFailed(error),
    );
    return () => void (isHere = false);
  }, [upload]);
  const isSent = bytes >= upload.sizeBytes;
  const consequence = isSent ? "no longer waiting; check the list for the result" : "cancelled; nothing was installed";
  return <Waiting text={isSent ? "installing …" : progressText(bytes, upload.sizeBytes)} onCancel={() => onCancel(consequence)} />;
}
