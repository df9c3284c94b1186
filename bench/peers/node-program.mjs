// Runs a program unchanged. The program listens on PORT.
import { pathToFileURL } from "node:url";

process.env.PORT = "0";
await import(pathToFileURL(process.argv[2]).href);
process.on("SIGTERM", () => process.exit());
