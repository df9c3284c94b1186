import { expect, test } from "vitest";
import { VisibleWorkers } from "../../../src/server/api/visible-workers.js";
import { ResultTexts } from "../../../src/server/http/result-texts.js";
import type { Principal } from "../../../src/shared/contract/principal.js";
import type { Worker } from "../../../src/shared/contract/workers.js";

const seeing = (...namespaces: string[]) => ({ namespaces }) as unknown as Principal;
const worker = (name: string): Worker => ({ name, path: "/", removable: true, source: "uploaded", versions: [], disabledVersions: [] });

test("each principal sees its namespaces, of the list as it is now", () => {
  const visible = new VisibleWorkers();
  const list = [worker("@a/x"), worker("@b/y")];
  const names = (principal: Principal, of: Worker[]) => visible.to(principal, of).map(({ name }) => name);
  expect(names(seeing("*"), list)).toEqual(["@a/x", "@b/y"]);
  expect(names(seeing("@a"), list)).toEqual(["@a/x"]);
  expect(names(seeing("@b"), list)).toEqual(["@b/y"]);
  expect(visible.to(seeing("@a"), list)).toBe(visible.to(seeing("@a"), list));
  expect(names(seeing("@a"), [...list, worker("@a/z")])).toEqual(["@a/x", "@a/z"]);
});

test("only the text of a frozen result is kept", () => {
  const texts = new ResultTexts();
  const frozen = Object.freeze(["é"]);
  expect(texts.of(frozen)).toBe(texts.of(frozen));
  expect(texts.of(frozen).toString()).toBe('["é"]');
  const open = [1];
  expect(texts.of(open)).toBe("[1]");
  open.push(2);
  expect(texts.of(open)).toBe("[1,2]");
});
