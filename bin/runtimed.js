#!/usr/bin/env node
void import("../dist/server/main.js").then(({ runDaemon }) => runDaemon());
