#!/usr/bin/env node
if (require("./check-node.js")("runtimed")) {
  void import("../dist/server/main.js").then(function (daemon) {
    return daemon.runProgram(process.argv.slice(2));
  });
}
