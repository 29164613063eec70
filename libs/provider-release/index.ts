/*
 * What a release of a Terraform provider is made of: its zips, SHA256SUMS of them, a signature of that, the key that
 * made it, and a manifest. The server verifies uploads with it, the command that publishes prepares them with it, so
 * that both say no to the same things in the same words: `Refused`, whose message is whole without its pointer.
 *
 * The measure is what terraform and tofu install: clients.md §5 and §7, the vendor's guide to publishing providers, and
 * the clients' own behaviour where those say nothing.
 */
export * from './archive-names.js';
export * from './archive.js';
export * from './checksums.js';
export * from './manifest.js';
export * from './rules.js';
export type { KeyKind } from './key-rules.js';
export { readPublicKey, signDetached, verifyDetached } from './openpgp.js';
export type { SigningInput } from './sign-detached.js';
export type { SigningKey } from './signing-key.js';
export type { DetachedSignature } from './verify-detached.js';
