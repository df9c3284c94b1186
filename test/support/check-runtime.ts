/** Node's major version that the tests must use. Default: the version of this machine. */
const expected = process.env["TEST_NODE_MAJOR"];

/** Runs once before all tests. Fails if PATH contains another Node.js, because the tests would run on that version. */
export function setup(): void {
  const [major] = process.versions.node.split(".");
  if (Number(major) < 24) throw new Error(`The tests need Node 24 or newer; this is ${process.version}. Run them by npm.`);
  if (expected !== undefined && expected !== major) throw new Error(`Expected Node ${expected}; this is ${process.version}.`);
}
