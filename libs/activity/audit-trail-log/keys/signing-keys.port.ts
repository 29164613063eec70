/** A key that signs checkpoints. A log has a verifier key of its own, because the key's name is the origin of the log. */
export type LogSigningKey = {
  /** Names the private key, and no other key of the site. */
  readonly source: string;
  /** Returns the 32 bytes of the Ed25519 public key of a log. */
  readonly getPublicKey: (origin: string) => Buffer;
  /** Returns the Ed25519 signature of a log. */
  readonly sign: (origin: string, message: Buffer) => Promise<Buffer>;
};

/** Where the private keys that sign checkpoints are. */
export type SigningKeys = {
  /** Returns the source of the newest key, or null if there is none yet. */
  readonly findNewest: () => Promise<string | null>;
  /** Returns the keys that sign, newest first, at least one. Creates the first key. */
  readonly list: () => Promise<readonly LogSigningKey[]>;
};
