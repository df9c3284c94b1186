// Checks that no file contains a term that docs/contributing/glossary.md replaces. Fails with the lines that contain one.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

const root = path.join(import.meta.dirname, "..");

/** The current terms. The key of an entry is a regular expression for the former term. */
const replaced = {
  "(?:open)?Rooms(?:Options)?": "services",
  "[fF]ront ?[dD]oors?|front-door|PluginDoor|plugin-door|doorless": "HTTP server, listener or router",
  "TakenAnswer|takeAnswer|taken-answer": "response interceptor",
  "TravellingRequest|HandedOnMessage|NextSet|OneWriteAnswers|HandOver":
    "plugin request, forwarded message, set builder, fast writer, batch policy",
  "IsolateFleet|BlankIsolates|IsolateQuarters|SlotFolder|SlotDirectories|IsolateUsers":
    "isolate set, standby isolates, sandbox allocator and folder, uid pool",
  "LoopProbe|IsolateEnding|PendingStep|StreamPace|SocketPieces": "liveness probe, exit reason, deferred, bandwidth scheduler, fragmenter",
  "PermissionCeiling|ExchangeTable|KnownFolders|PinnedFolder|PackageKeeper|KeyTable":
    "permission policy, slot map, catalog cache, directory handle, owner, key cache",
  "StagedFolder|InstanceMarks|SoleInstance|SharedChange|LaunchSocket|PendingLaunch":
    "transaction, peer registry, exclusive access, peer change, spawn",
  "whileListening|yieldProcessor|reclaimProcessor": "setStallTolerantInterval, lowerPriority, restorePriority",
  "AnsweringVersions|AttemptBudget|OutputBudget|FloodGuard|RecentEntries": "active version, limiter, entry buffer",
  "\\banswerError|[aA]nswerHead|AnswerWindow|answerBodyBytes": "response",
  "makeParcel|[^\\x22\\w]parcels?\\b|[a-z]Parcel\\b": "package archive",
  "actOnEach|\\bConcealment|KeyScanner|PackageFacts": "runBatch, redactor, secret scanner, package info",
  "#?lookAt(?:Folder|Listing)|lookCount|mostLooks|looksPer[A-Z]|quietLooks": "folder check, recheck, attempt",
  "(?:Call|File|Module|Package)Places|(?:File|Writable)Place\\b|occupyPlace|aitingForPlace": "limiter, path, location, folder",
  "HandedOn\\b|TravelHost|PassageHost|CacheShelf|(?:Instance|Other|Listed)Answer|InstanceQuestion|collectAnswers":
    "forward options, pipeline context, site cache, response, request",
  "tellFromNowOn|tellsNext|tellOfRest|tellInstances|tellFailure|tellGitHub|cuttingWay": "publish, print, log, report, write, cutting proxy",
  "\\binUnit\\b|isInUnit\\b|\\bunitIn\\b|\\bunitAt\\b": "package folder, in the package",
  "\\banew\\b|\\bafresh\\b": "again",
};
const pattern = new RegExp(
  Object.keys(replaced)
    .map((term) => `(?:${term})`)
    .join("|"),
);

const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n");
const faults = files
  .filter((file) => /\.(tsx?|mjs|md)$/.test(file) && file !== "CHANGELOG.md" && file !== "scripts/check-terms.mjs")
  .flatMap((file) =>
    readFileSync(path.join(root, file), "utf8")
      .split("\n")
      .flatMap((line, index) => {
        const found = pattern.exec(line)?.[0];
        if (found === undefined) return [];
        const [, instead] = Object.entries(replaced).find(([term]) => new RegExp(term).test(found));
        return [`${file}:${index + 1}: "${found}" is not used here any more: ${instead}`];
      }),
  );
if (faults.length > 0) {
  console.error(faults.join("\n"));
  process.exitCode = 1;
}
