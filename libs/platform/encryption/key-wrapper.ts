/**
 * Why a key cannot be wrapped or unwrapped:
 *
 * - `unavailable`: the service may answer later without a change of the settings, for example when somebody has unlocked it
 *   or renewed the credential.
 * - `misconfigured`: a setting of the service is wrong.
 * - `wrong-key`: the service does not decrypt this wrapped key.
 */
export type KeyWrapperFailure = 'unavailable' | 'misconfigured' | 'wrong-key';

/**
 * The message names what to change, except with `wrong-key`: the caller knows where the wrapped key is from. It contains
 * nothing that the service has sent.
 */
export class KeyWrapperError extends Error {
  constructor(
    readonly failure: KeyWrapperFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'KeyWrapperError';
  }
}

/**
 * A service that encrypts the encryption key of a site with a key that never leaves the service (ADR 78). Throws
 * `KeyWrapperError`.
 */
export type KeyWrapper = {
  /** Describes service and key for people, without secrets. */
  readonly description: string;
  /** Returns a new key of 32 bytes, wrapped. */
  create(): Promise<string>;
  wrap(key: Buffer): Promise<string>;
  unwrap(wrapped: string): Promise<Buffer>;
  /** Returns the same key, wrapped with the newest version of the key of the service. */
  rewrap(wrapped: string): Promise<string>;
  /** Ends the session with the service. Never throws. */
  close(): Promise<void>;
};
