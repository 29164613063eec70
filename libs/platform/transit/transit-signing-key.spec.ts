import { createPublicKey, verify } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { INSTALL_OPENBAO_TIMEOUT_MS, startOpenBao, type OpenBao } from '../../../test/support/openbao.js';
import { TransitSigningKey, type SigningKeyVersion } from './index.js';

let bao: OpenBao;
let folder: string;
let credentialFile: string;

/** The policy of the how-to page. */
const POLICY = `
  path "transit/keys/trail" { capabilities = ["read"] }
  path "transit/sign/trail" { capabilities = ["update"] }`;

beforeAll(async () => {
  bao = await startOpenBao();
  folder = await mkdtemp(join(tmpdir(), 'cadastre-transit-'));
  credentialFile = join(folder, 'credential');
  await bao.call('POST', 'transit/keys/trail', { type: 'ed25519' });
  await bao.call('POST', 'transit/keys/rsa', { type: 'rsa-2048' });
  await writeFile(credentialFile, await bao.createToken(POLICY));
}, INSTALL_OPENBAO_TIMEOUT_MS);

afterAll(async () => {
  await bao.remove();
  await rm(folder, { recursive: true, force: true });
});

const open = (name: string, file = credentialFile): TransitSigningKey =>
  new TransitSigningKey(
    {
      address: bao.address,
      caFile: null,
      namespace: null,
      mount: 'transit',
      keyName: 'cadastre',
      login: { method: 'token' },
      credentialFile: file,
      timeoutMs: 5_000,
    },
    name,
  );

const isValid = ({ publicKey }: SigningKeyVersion, message: Buffer, signature: Buffer): boolean => {
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
    format: 'jwk',
  });
  return verify(null, message, key, signature);
};

it('signs with the newest version and the one before it', async () => {
  const key = open('trail');
  const message = Buffer.from('a checkpoint\n');
  const [first] = await key.listVersions();
  expect(first?.version).toBe(1);
  expect(isValid(first as SigningKeyVersion, message, await key.sign(1, message))).toBe(true);

  await bao.call('POST', 'transit/keys/trail/rotate', {});
  const versions = await key.listVersions();
  expect(versions.map(({ version }) => version)).toEqual([2, 1]);
  for (const version of versions) {
    const signature = await key.sign(version.version, message);
    expect(versions.map((each) => isValid(each, message, signature))).toEqual(
      versions.map((each) => each.version === version.version),
    );
  }

  await bao.call('POST', 'transit/keys/trail/config', { min_encryption_version: 2 });
  expect((await key.listVersions()).map(({ version }) => version)).toEqual([2]);
});

it('names the setting if the key is missing, has another type, or may not be used', async () => {
  const asRoot = join(folder, 'root');
  await writeFile(asRoot, bao.rootToken);
  await expect(open('none', asRoot).listVersions()).rejects.toThrow(
    'CADASTRE_VAULT_SIGNING_KEY: the transit engine at transit has no key none of the type ed25519',
  );
  await expect(open('rsa', asRoot).listVersions()).rejects.toThrow(
    'CADASTRE_VAULT_SIGNING_KEY: transit/keys/rsa is of the type rsa-2048; use a key of the type ed25519',
  );
  await expect(open('rsa').listVersions()).rejects.toThrow('let its policy permit read on transit/keys/rsa');
});
