// A program without standby isolates forks this process for an app that was never loaded. The process imports the app and responds.
import { pathToFileURL } from "node:url";

process.once("message", async (file) => {
  const { default: app } = await import(pathToFileURL(file).href);
  const answer = await app.fetch(new Request("http://localhost/"));
  process.send(await answer.text());
});
