import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../../../test/support/folders.js';
import { describeOldNode, OLDEST_NODE } from './node-version.js';

const MAIN = join(import.meta.dirname, 'main.js');
/** Simulates an older Node without the modules that the server imports. */
const AS_NODE_20 = `data:text/javascript,
  import { registerHooks } from 'node:module';
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });
  registerHooks({ load: (url, context, next) => {
    if (/^node:|main[.]js$|node-version[.]js$|v8-flags[.]js$/.test(url)) return next(url, context);
    throw new Error('loaded ' + url);
  } });`.replaceAll(/\n\s*/g, ' ');

describe('the version of Node', () => {
  it('is the one in package.json', async () => {
    const { engines } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { engines: { node: string } };
    expect(engines.node).toBe(`>=${OLDEST_NODE}`);
  });

  it.each(['24.5.0', '24.21.0', '25.0.0', '100.0.0'])('is new enough: %s', (version) => {
    expect(describeOldNode(version, [])).toBeNull();
  });

  it.each(['18.20.1', '20.20.2', '24.4.9'])('is refused: %s', (version) => {
    expect(describeOldNode(version, [])).toContain(`this is Node ${version}. Run npm ci`);
  });

  it('ends an older process with one line that contains the right command, before anything else is loaded', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', AS_NODE_20, MAIN, 'token', 'list'], {
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'Cadastre needs Node 24.5 or newer, but this is Node 20.20.2. Run npm ci in the folder of the ' +
        'repository, which installs such a Node, then: npm run cadastre -- token list\n',
    });
  });
});
