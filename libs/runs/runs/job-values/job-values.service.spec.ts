import { expect, it, jest } from '@jest/globals';
import { EncryptionKeys } from '#platform/encryption';
import { Database } from '#platform/postgres';
import { Vault } from '#storage/vault';
import { FairQueue } from '#workspaces/state';
import type { RunVariableCandidates } from '#workspaces/variables';
import { JobValuesStore } from './job-values.service.js';

it('compresses the values of a new run once, in turn with other organizations, unless they change between attempts', async () => {
  const encryptionKeys = new EncryptionKeys(Buffer.alloc(32, 1));
  const database = new Database({ url: 'postgres://127.0.0.1:1/none', connections: 1, applicationName: 'values spec' });
  const turns = jest.spyOn(FairQueue.prototype, 'run');
  try {
    const store = new JobValuesStore({ database, encryptionKeys, vault: new Vault(database, encryptionKeys) });
    const candidates = (value: string): RunVariableCandidates => ({
      bytes: value.length,
      candidates: [
        {
          id: 'var-1',
          key: 'a',
          category: 'terraform',
          value,
          hcl: false,
          sensitive: false,
          source: null,
          encrypted: null,
        },
      ],
    });
    const owner = { workspace: 'ws-1', organization: 'org-1' };
    const storeValues = store.storeForNewRun('run-1', []);
    // Each encryption has another nonce.
    const contentOf = async (value: string) => (await storeValues(owner, candidates(value))).values.at(-1);
    const first = await contentOf('one');
    expect(await contentOf('one')).toBe(first);
    expect(await contentOf('two')).not.toEqual(first);
    expect(turns.mock.calls.map(([organization]) => organization)).toEqual(['org-1', 'org-1']);
  } finally {
    turns.mockRestore();
    await database.close();
  }
});
