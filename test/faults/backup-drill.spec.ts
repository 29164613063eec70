import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { createApiTestClient } from '../support/server.js';
import { startBackgroundLoad } from './background-load.js';
import { readLog } from './recorded-log.js';

const LONG = 240_000;

let folder: string;
let lost: Product;
let restored: Product;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-drill-'));
});

afterAll(async () => {
  await lost?.remove();
  await restored?.remove();
  await rm(folder, { recursive: true, force: true });
});

describe('the drill', () => {
  it(
    'backs up under load, destroys the site, and restores every write that was acknowledged before the backup',
    async () => {
      const backup = join(folder, 'backup');
      const keyFile = join(folder, 'backup-key');
      await writeFile(keyFile, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
      lost = await launchProduct();
      await lost.start();
      const work = await startBackgroundLoad(lost, () => lost.databaseUrl());
      await work.clients.acknowledged(150);

      const before = work.clients.ledger.lines.filter(({ outcome }) => outcome === 'acknowledged');
      const uploads = [...work.clients.uploads];
      // Killed while it runs, and run again.
      const killed = lost.spawn('backup', backup, '--key-file', keyFile);
      await waitUntil(() => existsSync(join(backup, 'backup.json')), 'the backup has begun');
      killed.kill('SIGKILL');
      expect((await killed.ended).signal).toBe('SIGKILL');
      const backedUp = await lost.run('backup', backup, '--key-file', keyFile);
      expect(backedUp).toMatchObject({ code: 0, stderr: '' });
      expect(backedUp.stdout).toMatch(
        /^Backed up \d+ events, up to position \d+ \(\S+\), and \d+ files \(\S+ MB\) to /,
      );
      await work.clients.acknowledged(30);
      await work.clients.stop();
      const log = await readLog(await lost.databaseUrl());
      const key = await readFile(join(lost.dataFolder, 'encryption-key'), 'utf8');
      await lost.kill();
      await lost.remove();

      restored = await launchProduct({ CADASTRE_ENCRYPTION_KEY: key.trim() });
      const restoring = restored.spawn('restore', backup, '--key-file', keyFile);
      const blobs = join(restored.dataFolder, 'blobs');
      await waitUntil(() => existsSync(blobs), 'files are being restored');
      restoring.kill('SIGKILL');
      await restoring.ended;
      const done = await restored.run('restore', backup, '--key-file', keyFile);
      // Standard error can contain a line about the Postgres that the killed command left.
      expect(done).toMatchObject({ code: 0 });
      expect(done.stdout).toMatch(/^Restored \d+ events and \d+ files in \S+ s\.\n/);
      expect(done.stdout).not.toContain('DIFFERS');

      await restored.start();
      const restoredLog = await readLog(await restored.databaseUrl());
      const requests = new Set(restoredLog.map(({ context }) => context.request.id));
      expect(before.length).toBeGreaterThan(100);
      expect(before.filter(({ request }) => !requests.has(request))).toEqual([]);
      const ids = new Set(log.map(({ id }) => id));
      const shared = restoredLog.filter(({ id }) => ids.has(id));
      expect(shared.length).toBeLessThan(log.length);
      // The token is in the backup, and the restored site has another setting.
      const api = createApiTestClient(restored.url, lost.adminToken);
      expect(uploads.length).toBeGreaterThan(0);
      for (const { stateVersion, bytes } of uploads) {
        const { status, text } = await api.get(`/api/v2/state-versions/${stateVersion}/download`);
        expect({ status, text }).toEqual({ status: 200, text: String(bytes) });
      }
    },
    LONG,
  );

  it(
    'ends with commands that refuse a second restore, a wrong key, and a destination among the files of the site',
    async () => {
      const backup = join(folder, 'backup');
      const again = await restored.run('restore', backup, '--key-file', join(folder, 'backup-key'));
      expect(again).toMatchObject({ code: 1, stdout: '' });
      expect(again.stderr).toBe(
        'the database already contains a site; restore into an empty database or data folder\n',
      );
      const wrongKey = await restored.run('restore', backup);
      expect(wrongKey).toMatchObject({ code: 1, stdout: '' });
      expect(wrongKey.stderr).toMatch(/^this is not the key of the backup; /);
      const checked = await restored.run('restore', backup, '--check', '--key-file', join(folder, 'backup-key'));
      expect(checked).toMatchObject({ code: 0, stderr: '' });
      expect(checked.stdout).toMatch(/^The backup is complete and readable: \d+ events/);
      const within = await restored.run('backup', join(restored.dataFolder, 'blobs/backup'));
      expect(within.stderr).toBe('the backup would be among the files of the site; name another folder or bucket\n');
      await symlink(join(restored.dataFolder, 'blobs'), join(folder, 'link'));
      expect((await restored.run('backup', join(folder, 'link/backup'))).stderr).toBe(within.stderr);
      const file = join(folder, 'backup-key/backup');
      const unwritable = await restored.run('backup', file);
      expect(unwritable.stderr).toBe(
        `the folder ${file} cannot be written (ENOTDIR); name a folder that this user can write to\n`,
      );
    },
    LONG,
  );
});
