export { isEd25519Supported, parseWebVerifierKey, type WebVerifierKey } from './keys.js';
export { openWebCheckpoint } from './checkpoints.js';
export { verifyWebProof } from './proofs.js';
export { TrailAlteredError } from '../trail-errors.js';
