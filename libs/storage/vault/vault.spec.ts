import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EncryptionKeys } from '#platform/encryption';
import { sql } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { freshDatabase, type TestDatabase } from '../../../test/support/database.js';
import { buildSecretDeletion, Vault } from './index.js';

const KEY = new EncryptionKeys(Buffer.alloc(32, 1));

let home: TestDatabase;
let database: Database;
let vault: Vault;

beforeAll(async () => {
  home = await freshDatabase();
  database = new Database({ url: home.url, connections: 2, applicationName: 'vault spec' });
  vault = new Vault(database, KEY);
});

afterAll(async () => {
  await database.close();
  await home.drop();
});

const put = (id: string, text: string): Promise<unknown> => database.rows(vault.storeSecret(id, 'org-1', text));

const readEncrypted = async (id: string): Promise<Buffer> => {
  const row = await database.row<{ encrypted: Buffer }>(
    sql`select sealed as encrypted from vault.secrets where id = ${id}`,
  );
  if (!row) throw new Error(`${id} does not exist`);
  return row.encrypted;
};

const replace = (id: string, encrypted: Buffer): Promise<unknown> =>
  database.rows(sql`update vault.secrets set sealed = ${encrypted} where id = ${id}`);

describe('the vault', () => {
  it.each(['', 'hunter2', 'two\nlines, ümläuts, 😀', 'x'.repeat(300_000)])(
    'returns the secret that was encrypted: %#',
    async (text) => {
      await put('round', text);
      expect(await vault.open('round')).toBe(text);
    },
  );

  it('returns the newest secret of an id, and undefined for a deleted or unknown one', async () => {
    await put('one', 'first');
    await put('one', 'second');
    await put('two', 'another');
    expect(await Promise.all(['one', 'two', 'three'].map((id) => vault.open(id)))).toEqual([
      'second',
      'another',
      undefined,
    ]);
    await database.rows(buildSecretDeletion(sql`${'one'}`));
    expect(await vault.open('one')).toBeUndefined();
    expect(await vault.open('two')).toBe('another');
  });

  it('stores no plaintext, and encrypts equal secrets differently', async () => {
    await put('a', 'hunter2 '.repeat(50));
    const first = await readEncrypted('a');
    await put('a', 'hunter2 '.repeat(50));
    const second = await readEncrypted('a');
    expect(first.includes('hunter2')).toBe(false);
    expect(first.equals(second)).toBe(false);
    expect(first.subarray(5, 17).equals(second.subarray(5, 17))).toBe(false);
  });

  it('keeps the secret if the transaction that replaces it fails', async () => {
    await put('kept', 'before');
    const replaced = database.transaction([vault.storeSecret('kept', 'org-1', 'after'), sql`select 1 / 0`]);
    await expect(replaced).rejects.toThrow('division by zero');
    expect(await vault.open('kept')).toBe('before');
  });

  it.each([5, 20, -1])('refuses to decrypt a secret with a changed byte at %i', async (at) => {
    await put('changed', 'a secret of some length');
    const encrypted = await readEncrypted('changed');
    const index = at < 0 ? encrypted.length + at : at;
    await replace('changed', Buffer.from(encrypted.map((byte, n) => (n === index ? byte ^ 1 : byte))));
    await expect(vault.open('changed')).rejects.toThrow('the secret changed is damaged');
  });

  it('refuses to decrypt a secret that was copied to another id', async () => {
    await put('mine', 'of mine');
    await put('theirs', 'of theirs');
    await replace('mine', await readEncrypted('theirs'));
    await expect(vault.open('mine')).rejects.toThrow('copied from the row of another secret');
  });

  it('reports another encryption key and an unknown format', async () => {
    await put('old', 'from before the restore');
    const otherVault = new Vault(database, new EncryptionKeys(Buffer.alloc(32, 2)));
    await expect(otherVault.open('old')).rejects.toThrow('encrypted with another encryption key');
    const encrypted = await readEncrypted('old');
    for (const strange of [
      Buffer.concat([Buffer.of(9), encrypted.subarray(1)]),
      encrypted.subarray(0, 12),
      Buffer.alloc(0),
    ]) {
      await replace('old', strange);
      await expect(vault.open('old')).rejects.toThrow('encrypted by a later version');
    }
    expect(() => new EncryptionKeys(Buffer.alloc(16))).toThrow('32 bytes');
  });
});
