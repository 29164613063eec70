export { TransitKeyWrapper } from './transit-key-wrapper.js';
export { TransitSigningKey, type SigningKeyVersion } from './transit-signing-key.js';
