import { Envelope, type EncryptionKeys } from '#platform/encryption';
import type { Sql } from '#platform/kernel';
import type { Vault } from '#storage/vault';
import type { DeliveryResponse } from '../deliveries/notification.sender.js';
import type { Destination } from './destinations.js';
import type { EncryptedResponse } from './notification-configurations.view.js';

/** Part of the key derivation: with another value, no existing response can be decrypted. */
export const RESPONSES_PURPOSE = 'notification responses';

/** Encrypts and decrypts URLs, tokens, and responses of destinations. */
export class NotificationSecrets {
  private readonly responses: Envelope;

  constructor(
    private readonly vault: Vault,
    encryptionKeys: EncryptionKeys,
  ) {
    this.responses = new Envelope(encryptionKeys, RESPONSES_PURPOSE);
  }

  /** Returns a statement for the transaction that creates or changes the configuration. */
  storeDestination(configuration: string, organization: string, destination: Destination): Sql {
    return this.vault.storeSecret(configuration, organization, JSON.stringify(destination));
  }

  /** Decrypts what a statement has read with `selectEncryptedSecret`. */
  openDestination(configuration: string, encrypted: string | null): Destination {
    if (encrypted === null) throw new Error(`the vault has no destination of ${configuration}`);
    return JSON.parse(this.vault.decrypt(configuration, encrypted)) as Destination;
  }

  encryptResponse(delivery: string, response: DeliveryResponse): Buffer {
    return this.responses.encrypt(delivery, Buffer.from(JSON.stringify(response)));
  }

  openResponse({ delivery, encrypted }: EncryptedResponse): DeliveryResponse {
    const text = this.responses.open(delivery, Buffer.from(encrypted, 'base64')).toString('utf8');
    return JSON.parse(text) as DeliveryResponse;
  }
}
