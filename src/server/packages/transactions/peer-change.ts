import type { ChangeSubject, ChangeType } from "../../../shared/contract/changes.js";
import type { Move } from "./move-journal.js";

/** A change of packages, as the other instances that have the directory are told. All paths are below the directory. */
export interface PeerChange {
  readonly type: ChangeType;
  readonly subject: Pick<ChangeSubject, "name" | "version">;
  /** What is to be read again: folders of workers, or of plugins. */
  readonly folders: readonly string[];
  /** Folders of packages whose files changed in place. */
  readonly edited?: readonly string[];
  /** Where what was there before lies now. */
  readonly moved?: readonly Move[];
  /** Whoever made it did not come to its end; it may not have happened. */
  readonly isUncertain?: true;
}

/** Follows what other instances do in a directory. */
export interface ChangeFollower {
  /** Called once for what is new, in its order. */
  readonly follow: (changes: readonly PeerChange[]) => void;
  /** Changes were missed: anything may be different. */
  readonly missed: () => void;
}
