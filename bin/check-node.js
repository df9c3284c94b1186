// Runs before anything else, on any Node since 14: only ES5 and import().
var oldest = 24;

/** Whether this Node is new enough; says what to do and sets the exit status 78 where it is not. */
module.exports = function checkNode(program) {
  var version = process.versions.node;
  if (parseInt(version, 10) >= oldest) return true;
  process.stderr.write(
    program +
      " needs Node.js " +
      oldest +
      " or newer and was started with " +
      version +
      ". " +
      "Install a supported version from https://nodejs.org; in a clone, npx " +
      program +
      " uses the one that npm ci installed.\n",
  );
  process.exitCode = 78;
  return false;
};
