export { computeKeyFingerprint, EncryptionKeys, formatKeyId } from './encryption-keys.js';
export { computeSecretFingerprint, Envelope } from './envelope.js';
export { HmacKey } from './hmac-key.js';
export { computeTextFingerprint } from './text-fingerprint.js';
export { KeyWrapperError, type KeyWrapper, type KeyWrapperFailure } from './key-wrapper.js';
