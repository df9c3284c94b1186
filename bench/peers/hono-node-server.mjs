// Serves a Hono app with @hono/node-server. The argument is a module whose default export is the app.
import { pathToFileURL } from "node:url";
import { serve } from "@hono/node-server";

const { default: app } = await import(pathToFileURL(process.argv[2]).href);
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(`listening ${port}`));
process.on("SIGTERM", () => process.exit());
