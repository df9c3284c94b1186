// What a program without isolates kept warm does for an app it never loaded: this is forked, imports it and answers.
import { pathToFileURL } from "node:url";

process.once("message", async (file) => {
  const { default: app } = await import(pathToFileURL(file).href);
  const answer = await app.fetch(new Request("http://localhost/"));
  process.send(await answer.text());
});
