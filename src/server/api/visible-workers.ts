import type { Principal } from "../../shared/contract/principal.js";
import type { Worker } from "../../shared/contract/workers.js";
import { namespacesCover } from "../../shared/namespace.js";

/** Sets of namespaces are the operator's to choose, and a list of 2,000 workers takes memory. */
const mostRemembered = 64;

/** The part of the list that a principal may see. For the same list and namespaces it is the same frozen one. */
export class VisibleWorkers {
  #list: readonly Worker[] = [];
  readonly #byNamespaces = new Map<string, Worker[]>();

  to(principal: Principal, list: Worker[]): Worker[] {
    if (principal.namespaces.includes("*")) return list;
    if (this.#list !== list || this.#byNamespaces.size >= mostRemembered) this.#byNamespaces.clear();
    this.#list = list;
    const key = JSON.stringify(principal.namespaces);
    const remembered = this.#byNamespaces.get(key);
    if (remembered) return remembered;
    const visible = list.filter((worker) => namespacesCover(principal.namespaces, worker.name));
    this.#byNamespaces.set(key, Object.freeze(visible) as Worker[]);
    return visible;
  }
}
