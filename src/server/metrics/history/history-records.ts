import { crc32 } from "node:zlib";
import type { HistoryMarker } from "../../../shared/contract/metrics-history.js";

/** First bytes of each file of the history. The daemon ignores and replaces a file with other first bytes. */
export const fileStart = Buffer.from("rthist01", "latin1");
const headBytes = 8;
const longestPayloadBytes = 16 * 1024 * 1024;
const kinds = { rows: 1, markers: 2, removal: 3 } as const;

/**
 * Rows of a worker, or of the daemon if `name` is empty. Each row is for an interval of `stepSeconds`. `rows` contains bytes for
 * `MetricRing.putEncoded`.
 */
interface RowsRecord {
  readonly kind: "rows";
  readonly name: string;
  readonly stepSeconds: number;
  readonly rows: Buffer;
}
interface MarkersRecord {
  readonly kind: "markers";
  readonly name: string;
  readonly markers: readonly HistoryMarker[];
}
/** Records the deletion of a worker. The daemon ignores all earlier records with the same name. */
interface RemovalRecord {
  readonly kind: "removal";
  readonly name: string;
}
export type HistoryRecord = RowsRecord | MarkersRecord | RemovalRecord;

/** Returns a record as bytes. The length and the CRC-32 of the payload, 4 bytes each, precede the payload. */
export function encodeRecord(record: HistoryRecord): Buffer {
  const payload = encodePayload(record);
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(payload.length, 0);
  head.writeUInt32LE(crc32(payload), 4);
  return Buffer.concat([head, payload]);
}

/**
 * Returns the records of a file up to the first incomplete or damaged record, which a kill of the daemon can leave. `soundBytes`: number of
 * bytes before that record. For a file of another format, returns no records and 0 bytes.
 */
export function readRecords(content: Buffer): { records: HistoryRecord[]; soundBytes: number } {
  const records: HistoryRecord[] = [];
  if (!content.subarray(0, fileStart.length).equals(fileStart)) return { records, soundBytes: 0 };
  let offset = fileStart.length;
  while (offset + headBytes <= content.length) {
    const length = content.readUInt32LE(offset);
    const payload = content.subarray(offset + headBytes, offset + headBytes + length);
    if (length > longestPayloadBytes || payload.length < length || crc32(payload) !== content.readUInt32LE(offset + 4)) break;
    const record = readPayload(payload);
    if (record) records.push(record);
    offset += headBytes + length;
  }
  return { records, soundBytes: offset };
}

function encodePayload(record: HistoryRecord): Buffer {
  if (record.kind === "markers") return textPayload(kinds.markers, JSON.stringify([record.name, record.markers]));
  if (record.kind === "removal") return textPayload(kinds.removal, record.name);
  const name = Buffer.from(record.name);
  const head = Buffer.alloc(6);
  head.writeUInt8(kinds.rows, 0);
  head.writeUInt16LE(record.stepSeconds, 2);
  head.writeUInt16LE(name.length, 4);
  return Buffer.concat([head, name, record.rows]);
}

function textPayload(kind: number, text: string): Buffer {
  return Buffer.concat([Buffer.of(kind), Buffer.from(text)]);
}

/** Returns the record in a payload. Returns undefined for a kind of record that only a newer version of the daemon writes. */
function readPayload(payload: Buffer): HistoryRecord | undefined {
  const kind = payload[0];
  if (kind === kinds.removal) return { kind: "removal", name: payload.toString("utf8", 1) };
  if (kind === kinds.markers) {
    const [name, markers] = JSON.parse(payload.toString("utf8", 1)) as [string, HistoryMarker[]];
    return { kind: "markers", name, markers };
  }
  if (kind !== kinds.rows || payload.length < 6) return undefined;
  const nameEnd = 6 + payload.readUInt16LE(4);
  return {
    kind: "rows",
    stepSeconds: payload.readUInt16LE(2),
    name: payload.toString("utf8", 6, nameEnd),
    rows: payload.subarray(nameEnd),
  };
}
