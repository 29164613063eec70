/** The oldest Node that can run the server: `engines` of package.json. */
export const OLDEST_NODE = '24.5';

const isOlder = (version: string, oldest: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
};

/** Returns what to print if this version of Node is too old, with the command that works; else null. */
export const describeOldNode = (version: string, args: readonly string[]): string | null =>
  isOlder(version, OLDEST_NODE)
    ? `Cadastre needs Node ${OLDEST_NODE} or newer, but this is Node ${version}. Run npm ci in the folder of the ` +
      `repository, which installs such a Node, then: npm run cadastre -- ${args.length > 0 ? args.join(' ') : '--help'}`
    : null;

/**
 * Ends the process if its Node is too old. An old Node cannot load the server, so nothing else may be imported before.
 */
export const demandNode = (): void => {
  const problem = describeOldNode(process.versions.node, process.argv.slice(2));
  if (problem === null) return;
  process.stderr.write(`${problem}\n`);
  process.exit(1);
};
