import { z } from 'zod';
import type { KeyWrapper } from '#platform/encryption';
import { parseStoredKey, type TransitSettings } from '#platform/settings';
import { TransitClient } from './transit-client.js';

const KEY_BITS = 256;

const isWrappedKey = (text: string): boolean => {
  const key = parseStoredKey(text);
  return key !== null && 'wrapped' in key;
};
/** Accepts only a text that a process accepts as its key, because callers store it. */
const ciphertextBody = z.object({ data: z.object({ ciphertext: z.string().refine(isWrappedKey) }) });
const plaintextBody = z.object({ data: z.object({ plaintext: z.base64() }) });

/** Wraps keys with the transit engine of a Vault or OpenBao. */
export class TransitKeyWrapper implements KeyWrapper {
  private readonly client: TransitClient;

  /** An abort of the signal ends every request except the revocation of a token. */
  constructor(
    private readonly settings: TransitSettings,
    signal: AbortSignal | null = null,
  ) {
    this.client = new TransitClient(settings, signal);
  }

  get description(): string {
    const { address, mount, keyName } = this.settings;
    return `${mount}/keys/${keyName} of Vault at ${address}`;
  }

  async create(): Promise<string> {
    return (await this.client.call('datakey/wrapped', { bits: KEY_BITS }, ciphertextBody)).data.ciphertext;
  }

  async wrap(key: Buffer): Promise<string> {
    return (await this.client.call('encrypt', { plaintext: key.toString('base64') }, ciphertextBody)).data.ciphertext;
  }

  async unwrap(wrapped: string): Promise<Buffer> {
    const { data } = await this.client.call('decrypt', { ciphertext: wrapped }, plaintextBody);
    return Buffer.from(data.plaintext, 'base64');
  }

  async rewrap(wrapped: string): Promise<string> {
    return (await this.client.call('rewrap', { ciphertext: wrapped }, ciphertextBody)).data.ciphertext;
  }

  async close(): Promise<void> {
    await this.client.endSession();
  }
}
