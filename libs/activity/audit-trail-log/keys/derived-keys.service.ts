import { createPrivateKey, createPublicKey, hkdfSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import type { Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { Vault } from '#storage/vault';
import { toSeedId, TRAIL_LOG_KEYS_STREAM, trailLogKeys } from './trail-log-keys.js';
import type { LogSigningKey, SigningKeys } from './signing-keys.port.js';

const KEY_BYTES = 32;
/** What precedes the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410 §7). */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Returns the id of a new seed, and the seed. */
export const createSeed = (): { readonly id: string; readonly seed: string } => ({
  id: randomBytes(8).toString('hex'),
  seed: randomBytes(KEY_BYTES).toString('base64'),
});

/** Derives the key of a log, so that the vault contains one secret and not one for each organization. */
const deriveKey = (seed: Buffer, origin: string): KeyObject => {
  const key = Buffer.from(hkdfSync('sha256', seed, '', `cadastre trail log key 1: ${origin}`, KEY_BYTES));
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEADER, key]), format: 'der', type: 'pkcs8' });
};

const exportPublicKey = (key: KeyObject): Buffer =>
  Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url');

/** Signs with keys that this process derives from seeds in the vault. */
export class DerivedKeys implements SigningKeys {
  private readonly opened = new Map<string, LogSigningKey>();

  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
    private readonly ids: Ids,
  ) {}

  async findNewest(): Promise<string | null> {
    const newest = (await this.loadState()).seeds.at(-1);
    return newest === undefined ? null : toSeedId(newest);
  }

  async list(): Promise<readonly LogSigningKey[]> {
    let { seeds } = await this.loadState();
    if (seeds.length === 0) {
      await this.createFirst();
      ({ seeds } = await this.loadState());
    }
    return this.openAll(seeds);
  }

  /** Like `list`, but creates no key. */
  async listExisting(): Promise<readonly LogSigningKey[]> {
    return this.openAll((await this.loadState()).seeds);
  }

  private openAll(seeds: readonly string[]): Promise<readonly LogSigningKey[]> {
    return Promise.all(seeds.toReversed().map((seed) => this.open(seed)));
  }

  private async loadState() {
    return (await this.store.load(TRAIL_LOG_KEYS_STREAM, trailLogKeys)).state;
  }

  private async createFirst(): Promise<void> {
    const { id, seed } = createSeed();
    await this.store.handle({
      decider: trailLogKeys,
      load: () => this.store.load(TRAIL_LOG_KEYS_STREAM, trailLogKeys),
      command: () => ({ type: 'EnsureKey', data: { seed: id } }) as const,
      organization: () => null,
      context: createSystemContext('audit trail log', this.ids.uuid()),
      read: ({ state }) => (state.seeds.length > 0 ? [] : [this.vault.storeSecret(toSeedId(id), null, seed)]),
    });
  }

  private async open(id: string): Promise<LogSigningKey> {
    const opened = this.opened.get(id);
    if (opened) return opened;
    const text = await this.vault.open(toSeedId(id));
    if (text === undefined) throw new Error(`the seed ${id} of the keys that sign checkpoints is missing in the vault`);
    const seed = Buffer.from(text, 'base64');
    const key: LogSigningKey = {
      source: toSeedId(id),
      getPublicKey: (origin) => exportPublicKey(deriveKey(seed, origin)),
      sign: (origin, message) => Promise.resolve(sign(null, message, deriveKey(seed, origin))),
    };
    this.opened.set(id, key);
    return key;
  }
}
