import { randomUUID } from "node:crypto";
import { formOf, packApp, packPlugin } from "./editions.mjs";

/** Every seventh change of an app deletes the app. All other changes replace it. */
const deleteEvery = 7;
/** Of every ten keys, the load leaves one key unrevoked, so that the final comparison can look for it. */
const keepEvery = 10;
/** Number of different contents of a plugin. The number is small, because Node.js never unloads an imported module. */
const pluginEditions = 4;
export const pluginName = "teller";
export const appNames = ["uploaded-0", "uploaded-1"];

/**
 * The changes that operators make. Each function changes its own subjects, records the outcome, and waits until all daemons show the
 * change.
 */
export class Changes {
  #daemons;
  #ledger;
  #watch;
  #directory;
  #turns = 0;

  constructor({ daemons, ledger, watch, directory }) {
    this.#daemons = daemons;
    this.#ledger = ledger;
    this.#watch = watch;
    this.#directory = directory;
  }

  async changeApp(name, turn) {
    const subject = `app ${name}`;
    const daemon = this.#nextDaemon();
    const isThere = !this.#ledger.subjectsOf("app").includes(subject) || this.#ledger.possible(subject)[0] !== "absent";
    if (turn % deleteEvery === deleteEvery - 1 && isThere)
      await this.#change(subject, "absent", () =>
        this.#daemons.call(daemon, "delete an app", { method: "DELETE", route: `/workers/_/${name}` }),
      );
    else {
      const edition = `${name}, edition ${turn}`;
      const archive = await packApp(this.#directory, name, edition);
      await this.#change(subject, edition, () =>
        this.#daemons.call(daemon, "upload an app", { method: "POST", route: "/workers/upload", form: formOf(archive) }),
      );
    }
    await this.#watch.everywhere(subject, { at: daemon, look: (other) => this.lookAtApp(name, other) });
  }

  async toggle(turn) {
    const daemon = this.#nextDaemon();
    const [value, deed] = turn % 2 === 0 ? ["off", "disable"] : ["on", "enable"];
    await this.#change("toggle toggled", value, () =>
      this.#daemons.call(daemon, `${deed} an app`, { method: "POST", route: `/workers/_/toggled/1.0.0/${deed}` }),
    );
    await this.#watch.everywhere("toggle toggled", { at: daemon, look: (other) => this.lookAtToggled(other) });
  }

  async changePlugin(turn) {
    const daemon = this.#nextDaemon();
    if (turn % 2 === 1) {
      const { body } = await this.#daemons.call(daemon, "reload the plugins", { method: "POST", route: "/plugins/reload" });
      const leftOut = body?.data?.plugins.filter(({ error }) => error !== undefined) ?? [];
      if (leftOut.length > 0) throw new Error(`plugins are left out: ${JSON.stringify(leftOut)}`);
      return;
    }
    const subject = `plugin ${pluginName}`;
    const edition = `edition ${turn % (2 * pluginEditions)}`;
    const archive = await packPlugin(this.#directory, pluginName, edition);
    await this.#change(subject, edition, () =>
      this.#daemons.call(daemon, "upload a plugin", { method: "POST", route: "/plugins/upload", form: formOf(archive) }),
    );
    await this.#watch.everywhere(subject, { at: daemon, look: (other) => this.lookAtPlugin(other) });
  }

  /** Creates a key on one daemon, uses the key on all daemons, and revokes the key on another daemon. */
  async churnKey(turn) {
    const name = `key of turn ${turn} ${randomUUID()}`;
    const subject = `key ${name}`;
    const maker = this.#nextDaemon();
    this.#ledger.begin(subject, "active");
    const { status, body } = await this.#daemons.call(maker, "make a key", {
      method: "POST",
      route: "/keys",
      json: { name, role: "viewer" },
    });
    if (status !== 201) return;
    this.#ledger.acknowledge(subject, "active");
    const { key, id } = body.data;
    const look = (daemon) => this.#lookAtKey(key, daemon);
    await this.#watch.everywhere(subject, { at: maker, look });
    if (turn % keepEvery === 0) return;
    const revoker = this.#nextDaemon();
    const isRevoked = await this.#change(subject, "absent", () =>
      this.#daemons.call(revoker, "revoke a key", { method: "DELETE", route: `/keys/${id}` }),
    );
    if (isRevoked) await this.#watch.everywhere(subject, { at: revoker, look });
  }

  lookAtApp(name, daemon) {
    return this.#shownAt(daemon, `/${name}/`);
  }

  lookAtPlugin(daemon) {
    return this.#shownAt(daemon, `/${pluginName}`);
  }

  async lookAtToggled(daemon) {
    const { status } = await this.#daemons.look(daemon, "look at what was changed", "/toggled/");
    return { 200: "on", 404: "off" }[status] ?? `status ${status}`;
  }

  async #lookAtKey(key, daemon) {
    const { status } = await this.#daemons.look(daemon, "use a key", "/api/workers", { "x-api-key": key });
    return { 200: "active", 401: "absent" }[status] ?? `status ${status}`;
  }

  async #shownAt(daemon, route) {
    const { status, text } = await this.#daemons.look(daemon, "look at what was changed", route);
    return { 200: text, 404: "absent" }[status] ?? `status ${status}`;
  }

  /** Returns whether the daemon acknowledged the change. */
  async #change(subject, value, ask) {
    this.#ledger.begin(subject, value);
    const { status } = await ask();
    const isDone = status >= 200 && status < 300;
    if (isDone) this.#ledger.acknowledge(subject, value);
    return isDone;
  }

  #nextDaemon() {
    this.#turns += 1;
    return this.#daemons.all[this.#turns % this.#daemons.all.length];
  }
}
