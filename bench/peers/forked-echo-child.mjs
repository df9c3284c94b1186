// A child of forked-echo.mjs: sends back what it reads, and ends with its parent. One buffer for all reads: without a stream's own for
// each of them it touches half as much memory, which is what such a process costs.
import { Socket } from "node:net";

const channel = new Socket({ fd: 3, onread: { buffer: Buffer.alloc(65_536), callback: echo } });
channel.on("error", () => process.exit());
channel.on("close", () => process.exit());

function echo(count, bytes) {
  channel.write(Buffer.from(bytes.subarray(0, count)));
  return true;
}
