import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { expectStatus, makeOrganization, makeWorkspace, resource } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';
import { newStateVersion, stateFile } from '../support/state-file.js';

const LONG = 240_000;
const state = stateFile();

let folder: string;
let old: Product;
let target: Product;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-move-'));
});

afterAll(async () => {
  await old?.remove();
  await target?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Creates a workspace with a state. Returns the id of the state version. */
const addState = async (api: ApiTestClient): Promise<string> => {
  const workspace = await makeWorkspace(api, 'acme', 'app');
  const variable = { key: 'password', value: 'hunter2', category: 'env', sensitive: true };
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/vars`, resource('vars', variable)), 201);
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/lock`, {}), 200);
  const body = newStateVersion(state, { inline: true });
  return expectStatus(await api.post(`/api/v2/workspaces/${workspace}/state-versions`, body), 201).body.data.id;
};

describe('the commands that move an organization', () => {
  it(
    'continue after they were killed, while both sites serve requests',
    async () => {
      const [archive, keyFile] = [join(folder, 'acme'), join(folder, 'acme-key')];
      old = await launchProduct();
      await old.start();
      const there = createApiTestClient(old.url, old.adminToken);
      await makeOrganization(there, 'acme');
      const stateVersion = await addState(there);
      const exporting = old.spawn('organization', 'export', 'acme', archive, '--key-file', keyFile);
      await waitUntil(() => existsSync(join(archive, 'organization.json')), 'the export has begun');
      exporting.kill('SIGKILL');
      await exporting.ended;
      const exported = await old.run('organization', 'export', 'acme', archive, '--key-file', keyFile);
      // The killed command may have ended already.
      expect(exported.stdout + exported.stderr).toMatch(
        /^(?:Exported acme with \d+ events, up to position \d+, and \d+ files|the destination contains a finished export; )/,
      );
      const checked = await old.run('organization', 'import', archive, '--key-file', keyFile, '--check');
      expect(checked).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^The export is complete and readable: /) as unknown,
      });
      await old.kill();

      target = await launchProduct();
      await target.start();
      const here = createApiTestClient(target.url, target.adminToken);
      await makeOrganization(here, 'resident');
      const unconfirmed = ['organization', 'import', archive, '--key-file', keyFile] as const;
      const parameters = [...unconfirmed, '--yes'] as const;
      const unasked = await target.run(...unconfirmed, '--map-user', 'admin=admin');
      expect(unasked.code).toBe(1);
      expect(unasked.stdout).toMatch(/^The export says that it contains acme of .*\n.*members of acme:\n {2}admin \(/);
      expect(unasked.stdout).toContain('\n  owners: everything; members: admin\n');
      expect(unasked.stderr).toBe('not confirmed; run this in a terminal, or add --yes. Nothing was changed\n');
      const refused = await target.run(...parameters);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toMatch(/--map-user admin=admin/);
      const importing = target.spawn(...parameters, '--map-user', 'admin=admin');
      await waitUntil(() => existsSync(join(target.dataFolder, 'blobs', 'state-versions')), 'files are being imported');
      importing.kill('SIGKILL');
      await importing.ended;
      const imported = await target.run(...parameters, '--map-user', 'admin=admin');
      // Standard error can contain a log line. The killed command may have ended already.
      expect(imported.stdout + imported.stderr).toMatch(
        /Imported acme with \d+ events, .*\nCreated 0 users without tokens\. |this export was imported into this site already\. /,
      );
      const download = await here.get(`/api/v2/state-versions/${stateVersion}/download`);
      expect({ status: download.status, text: download.text }).toEqual({ status: 200, text: String(state.bytes) });
      const verified = await target.run('verify');
      expect(verified).toMatchObject({ code: 0 });
      expect(verified.stdout).not.toContain('DIFFERS');
    },
    LONG,
  );

  it(
    'refuse a wrong mapping, a destination for the key among the files, and a missing key',
    async () => {
      const archive = join(folder, 'acme');
      const mapping = await target.run('organization', 'import', archive, '--key-file', 'k', '--map-user', 'ada');
      expect(mapping.stderr).toContain('must be OLD=NEW, with the name or the id of a user on each side, got "ada"');
      const within = await target.run('organization', 'export', 'resident', archive, '--key-file', join(archive, 'k'));
      expect(within.stderr).toBe(
        '--key-file: the key would be among the files that it protects; name another folder\n',
      );
      const missing = await target.run('organization', 'import', archive);
      expect(missing.stderr).toContain("required option '--key-file <file>' not specified");
    },
    LONG,
  );
});
