// A child of forked-echo.mjs. Sends back each byte, and ends with its parent. Uses one buffer for all reads, because a buffer per read
// would double the memory of the process.
import { Socket } from "node:net";

const channel = new Socket({ fd: 3, onread: { buffer: Buffer.alloc(65_536), callback: echo } });
channel.on("error", () => process.exit());
channel.on("close", () => process.exit());

function echo(count, bytes) {
  channel.write(Buffer.from(bytes.subarray(0, count)));
  return true;
}
