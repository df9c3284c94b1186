import { closeReasonBytes } from "./frames.js";

/** Codes that RFC 6455 (7.4) and its registry give a meaning. */
export const CloseCode = {
  Normal: 1000,
  GoingAway: 1001,
  /** The peer closed without a code; never on the wire. */
  NoStatus: 1005,
  /** The connection broke; never on the wire. */
  Abnormal: 1006,
  TooLarge: 1009,
  InternalError: 1011,
  ServiceRestart: 1012,
  TryAgainLater: 1013,
} as const;

export interface SocketClose {
  readonly code: number;
  readonly reason: string;
}

/** Whether an endpoint may send it in a close frame. */
export function isSendableCode(code: number): boolean {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== CloseCode.NoStatus && code !== CloseCode.Abnormal;
}

/** Payload of a SocketClose frame. */
export function writeClose({ code, reason }: SocketClose): Uint8Array {
  const payload = Buffer.allocUnsafe(2 + Buffer.byteLength(reason));
  payload.writeUInt16LE(code, 0);
  payload.write(reason, 2);
  return payload;
}

/** Throws when it cannot be a close. A reason that is no UTF-8 is left out. */
export function readClose(payload: Buffer): SocketClose {
  if (payload.length < 2 || payload.length > 2 + closeReasonBytes) throw new Error("it sent a close that cannot be one");
  const reason = payload.toString("utf8", 2);
  return { code: payload.readUInt16LE(0), reason: Buffer.byteLength(reason) === payload.length - 2 ? reason : "" };
}
