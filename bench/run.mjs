// Runs every piece of the bench, prints a table of ratios, each against its peer in the same run, and writes bench/RESULTS.md.
import { writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

const pieces = ["./warm-worker.mjs", "./cli-start.mjs"];
const chosen = process.argv.slice(2);

const rows = [];
for (const file of pieces) {
  if (chosen.length > 0 && !chosen.some((name) => file.includes(name))) continue;
  const piece = await import(file);
  console.error(`${piece.name} …`);
  rows.push(...(await piece.run()).rows);
}

const cells = rows.map(({ work, against, ratio, target }) => `| ${work} | ${against} | ${ratio.toFixed(2)} × | ${target} |`);
const table = `| Work | Against | Ratio | Target |\n| --- | --- | --- | --- |\n${cells.join("\n")}\n`;
console.log(table);
const machine = `${cpus()[0]?.model.trim() ?? "unknown processor"}, ${cpus().length} cores, Node ${process.versions.node}, ${process.platform}`;
if (chosen.length === 0) {
  const text = `# Results\n\nMade by \`npm run bench\` on ${machine}, ${new Date().toISOString().slice(0, 10)}. Each ratio compares two medians of alternating rounds in the same run.\n\n${table}`;
  await writeFile(fileURLToPath(new URL("RESULTS.md", import.meta.url)), text);
}
