// A program that listens on PORT, as it is.
import { pathToFileURL } from "node:url";

process.env.PORT = "0";
await import(pathToFileURL(process.argv[2]).href);
process.on("SIGTERM", () => process.exit());
