import type { Clock } from '#platform/kernel';
import type { SigningKeyVersion, TransitSigningKey } from '#platform/transit';
import type { DerivedKeys } from './derived-keys.service.js';
import type { LogSigningKey, SigningKeys } from './signing-keys.port.js';

/** Versions are read again after this time, to find a rotation. */
const READ_AGAIN_MS = 60_000;

/**
 * Signs with a key in Vault, whose versions are the keys. All logs have the same public key, but each has a verifier key with
 * its own name. Keys of seeds that the site has from before also sign, until they are trimmed.
 */
export class TransitKeys implements SigningKeys {
  private cache: { readonly keys: readonly LogSigningKey[]; readonly readAt: number } | null = null;

  constructor(
    private readonly key: Pick<TransitSigningKey, 'listVersions' | 'sign'>,
    private readonly derived: Pick<DerivedKeys, 'listExisting'>,
    private readonly clock: Clock,
  ) {}

  async findNewest(): Promise<string | null> {
    return (await this.listVersions())[0]?.source ?? null;
  }

  async list(): Promise<readonly LogSigningKey[]> {
    return [...(await this.listVersions()), ...(await this.derived.listExisting())];
  }

  private async listVersions(): Promise<readonly LogSigningKey[]> {
    const now = this.clock.now().getTime();
    if (this.cache && now - this.cache.readAt < READ_AGAIN_MS) return this.cache.keys;
    const keys = (await this.key.listVersions()).map((version) => this.toSigningKey(version));
    this.cache = { keys, readAt: now };
    return keys;
  }

  private toSigningKey({ version, publicKey }: SigningKeyVersion): LogSigningKey {
    return {
      source: `vault:v${version}:${publicKey.toString('hex', 0, 4)}`,
      getPublicKey: () => publicKey,
      sign: (_, message) => this.key.sign(version, message),
    };
  }
}
