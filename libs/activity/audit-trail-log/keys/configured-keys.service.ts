import type { Clock, Ids } from '#platform/kernel';
import type { EncryptionKeys } from '#platform/encryption';
import type { Settings } from '#platform/settings';
import { TransitSigningKey } from '#platform/transit';
import type { EventStore } from '#storage/event-store';
import { Vault } from '#storage/vault';
import { DerivedKeys } from './derived-keys.service.js';
import type { SigningKeys } from './signing-keys.port.js';
import { TransitKeys } from './transit-keys.service.js';

export type SigningKeyDependencies = {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly encryptionKeys: EncryptionKeys;
};

export type SigningKeySettings = Pick<Settings, 'transit' | 'trailSigningKey'>;

/** Returns the keys that the settings name: those of seeds in the database, or of a key in Vault. */
export const createSigningKeys = (
  { store, clock, ids, encryptionKeys }: SigningKeyDependencies,
  { transit, trailSigningKey }: SigningKeySettings,
): SigningKeys => {
  const derived = new DerivedKeys(store, new Vault(store.database, encryptionKeys), ids);
  if (!transit || trailSigningKey === null) return derived;
  return new TransitKeys(new TransitSigningKey(transit, trailSigningKey), derived, clock);
};
