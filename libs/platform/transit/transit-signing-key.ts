import { z } from 'zod';
import { KeyWrapperError } from '#platform/encryption';
import type { TransitSettings } from '#platform/settings';
import { TransitClient } from './transit-client.js';

const ED25519_BYTES = 32;

const isPublicKey = (text: string): boolean => Buffer.from(text, 'base64').length === ED25519_BYTES;

const keyBody = z.object({
  data: z.object({
    type: z.string(),
    latest_version: z.int().positive(),
    min_encryption_version: z.int().nonnegative(),
    min_available_version: z.int().nonnegative(),
    keys: z.record(z.string(), z.unknown()),
  }),
});
const versionBody = z.object({ public_key: z.base64().refine(isPublicKey) });
const signatureBody = z.object({ data: z.object({ signature: z.string().regex(/^vault:v\d+:/) }) });

export type SigningKeyVersion = { readonly version: number; readonly publicKey: Buffer };

/** An Ed25519 key that never leaves the transit engine of a Vault or OpenBao. Throws `KeyWrapperError`. */
export class TransitSigningKey {
  private readonly client: TransitClient;
  private readonly settings: TransitSettings;

  constructor(settings: TransitSettings, keyName: string) {
    this.settings = { ...settings, keyName };
    this.client = new TransitClient(this.settings);
  }

  /**
   * Returns the versions that sign, newest first: the newest and the one before it, unless `min_encryption_version` of the
   * key excludes it.
   */
  async listVersions(): Promise<readonly SigningKeyVersion[]> {
    const { data } = await this.client.call('keys', null, keyBody);
    const { type, latest_version: newest, min_encryption_version: first, keys } = data;
    if (type !== 'ed25519') {
      const { mount, keyName } = this.settings;
      throw new KeyWrapperError(
        'misconfigured',
        `CADASTRE_VAULT_SIGNING_KEY: ${mount}/keys/${keyName} is of the type ${type}; use a key of the type ed25519`,
      );
    }
    return [newest, newest - 1]
      .filter((version) => version >= Math.max(1, first, data.min_available_version) && String(version) in keys)
      .map((version) => {
        const { public_key: publicKey } = versionBody.parse(keys[String(version)]);
        return { version, publicKey: Buffer.from(publicKey, 'base64') };
      });
  }

  async sign(version: number, message: Buffer): Promise<Buffer> {
    const input = message.toString('base64');
    const { data } = await this.client.call('sign', { input, key_version: version }, signatureBody);
    return Buffer.from(data.signature.split(':')[2] ?? '', 'base64');
  }
}
