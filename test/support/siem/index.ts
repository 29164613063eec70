import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT } from '../folders.js';
import { installPython } from '../python.js';

const FOLDER = join(ROOT, 'test/support/siem');
const REQUIREMENTS = join(FOLDER, 'requirements.txt');

/** Sends lines to a script, and returns the value of each line that it prints. */
const runScript = async <T>(script: string, input: string): Promise<readonly T[]> => {
  const child = spawn(await installPython('siem', REQUIREMENTS), [join(FOLDER, script)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const code = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  // A script that ended early explains why on stderr.
  child.stdin.on('error', () => undefined).end(input);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if ((await code) !== 0) throw new Error(`${script}: ${errors}`);
  return output
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as T);
};

/** Returns the errors of each event by the schema of OCSF 1.8: lines of JSON. */
export const validateOcsf = (lines: string): Promise<readonly (readonly string[])[]> =>
  runScript<readonly string[]>('validate_ocsf.py', lines);

/** Returns the fields of each line of CEF by another parser; null if a line is no CEF. */
export const parseCef = (lines: string): Promise<readonly (Readonly<Record<string, string>> | null)[]> =>
  runScript<Readonly<Record<string, string>> | null>('parse_cef.py', lines);
