/**
 * Rules for the files of a provider release: zips, SHA256SUMS, its signature, the signing key, and a manifest. The
 * server checks uploads with this module and the publishing command prepares them with it, so both reject the same
 * files with the same messages. Each `Refusal` has a message that is complete without its pointer.
 *
 * The rules follow what terraform and tofu install: the vendor's guide to publishing providers,
 * and otherwise the observed behaviour of the clients.
 */
export * from './archive-names.js';
export * from './archive.js';
export * from './checksums.js';
export { findVendorKey, VENDOR_KEY_IDS } from './vendor-keys.js';
export * from './manifest.js';
export * from './rules.js';
export type { KeyKind } from './key-rules.js';
export { checkRenewal, readAcceptedKey, readPublicKey, signDetached, verifyDetached } from './openpgp.js';
export type { SigningInput } from './sign-detached.js';
export type { AcceptedKey, SigningKey } from './signing-key.js';
export type { DetachedSignature } from './verify-detached.js';
