/** Node's major version that the tests are to run on; the one of the machine when it is not set. */
const expected = process.env["TEST_NODE_MAJOR"];

/** Runs once before all tests: a PATH that leads to another Node would test that one instead. */
export function setup(): void {
  const [major] = process.versions.node.split(".");
  if (Number(major) < 24) throw new Error(`The tests need Node 24 or newer; this is ${process.version}. Run them by npm.`);
  if (expected !== undefined && expected !== major) throw new Error(`Expected Node ${expected}; this is ${process.version}.`);
}
