import { list } from "../../../shared/contract/hosts.js";
import { normalHostName } from "../../../shared/host-name.js";
import { connect } from "../../client/connection.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { exitCodes } from "../../command/exit-codes.js";
import { checkHost } from "../../doctor/check-host.js";

interface Options {
  readonly http?: boolean;
}

export const command = defineCommand<[host: string], Options>({
  arguments: [{ syntax: "<host>", description: "The host name, such as shop.example.org" }],
  options: [{ flags: "--http", description: "Check http, not https" }],
  fields: ["host", "findings"],
  examples: [
    ["runtimectl hosts check shop.example.org", "does its name resolve, is its certificate valid, does the worker respond?"],
    ["runtimectl hosts check hello.localhost:8000 --http", "of a daemon on this machine"],
  ],
  notes: "Changes nothing. Ends with 1 when something failed.",
  async run(context, [text], { http = false }) {
    const [name = "", port] = text.split(":");
    const host = normalHostName(name);
    if (host === undefined || (port !== undefined && !/^\d{1,5}$/.test(port)))
      throw usageError(`${JSON.stringify(text)} is not a host name with an optional port`, "runtimectl hosts check shop.example.org");
    const { client, settings } = await connect(context, { hosts: { list } });
    const { hosts, appDomain } = await client.hosts.list();
    const isAutomatic = appDomain !== undefined && host.endsWith(`.${appDomain}`);
    const worker = isAutomatic ? "its automatic worker" : hosts.find((one) => one.host === host)?.worker;
    const findings = await checkHost({ host, port, isHttp: http, worker }, settings);
    const rows = findings.map(({ status, check, message, hint = "" }) => [status, check, message, hint]);
    context.output.table({ host, findings }, ["STATUS", "CHECK", "FINDING", "WHAT TO DO"], rows);
    return findings.some(({ status }) => status === "fail") ? exitCodes.failed : exitCodes.ok;
  },
});
