import type { LogLevel } from "../../../shared/contract/worker-logs.js";
import type { IsolateProcess } from "./isolate-process.js";

/** What its owner hears; set when an app is given to the isolate. */
export interface IsolateEvents {
  /** A call ended, or what is in its way is gone: the isolate may have room for another, or nothing to do at all. */
  onRoom(isolate: IsolateProcess): void;
  /** `end` says how, such as `was ended because …`. */
  onExit(isolate: IsolateProcess, end: string): void;
  /** The app wrote something, or something that it threw was not caught. */
  onOutput(level: LogLevel, text: string): void;
  /** Something that an operator should know: why it was killed or is replaced. */
  onNotice(level: LogLevel, text: string): void;
}
