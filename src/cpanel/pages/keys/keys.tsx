import { useState } from "react";
import type { NewKey } from "../../../shared/contract/keys.js";
import { NotFound } from "../not-found.js";
import type { SectionProps } from "../sections.js";
import { KeyForm } from "./key-form.js";
import { KeyList } from "./key-list.js";
import { KeyReveal } from "./key-reveal.js";

/** Section with the list of keys, the form for a new key, and the dialog that shows the secret of a new key once. */
export function Keys({ rest }: SectionProps) {
  const [revealed, setRevealed] = useState<NewKey>();
  const [page] = rest;
  if (rest.length > 1 || (page !== undefined && page !== "new")) return <NotFound />;
  return (
    <>
      {page === "new" ? <KeyForm onCreated={setRevealed} /> : <KeyList onRotated={setRevealed} />}
      {revealed && <KeyReveal created={revealed} onStored={() => setRevealed(undefined)} />}
    </>
  );
}
