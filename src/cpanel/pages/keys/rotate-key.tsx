import { useState } from "react";
import type { ApiKey, NewKey } from "../../../shared/contract/keys.js";
import { Button } from "../../components/button.js";
import { ErrorMessage } from "../../components/error-message.js";
import { Modal } from "../../components/modal.js";
import { RadioChoices } from "../../components/radio-choices.js";
import { useMutation } from "../../components/use-mutation.js";
import { useApi } from "../../live/use-api.js";
import { keyOperations } from "./key-operations.js";

const overlaps = [
  { value: "24h", label: "24 hours" },
  { value: "7d", label: "7 days" },
  { value: "0", label: "Not at all", note: "Requests with the old key are rejected immediately." },
];

/** Dialog that creates a replacement for a key and sets when the old key expires. `onRotated` closes the dialog. */
export function RotateKey({ apiKey, onClose, onRotated }: { apiKey: ApiKey; onClose: () => void; onRotated: (created: NewKey) => void }) {
  const api = useApi(keyOperations);
  const { isPending, error, run } = useMutation();
  const [overlap, setOverlap] = useState("24h");
  const rotate = () =>
    run(async () => {
      const { data } = await api.keys.rotate({ params: { id: String(apiKey.id) }, body: { overlap } });
      onRotated(data);
    });
  return (
    <Modal title={`Rotate ${apiKey.name}`} onClose={onClose} isHeld={isPending}>
      <p>A new key with the same name and permissions is created and shown once.</p>
      <RadioChoices label="Validity of the old key" choices={overlaps} value={overlap} onChange={setOverlap} />
      {error !== undefined && <ErrorMessage error={error} />}
      <div className="modal-buttons">
        <Button onPress={onClose}>Cancel</Button>
        <Button kind="primary" onPress={() => void rotate()} isPending={isPending}>
          Rotate key
        </Button>
      </div>
    </Modal>
  );
}
