export { isEd25519Supported, parseWebVerifierKey, type WebVerifierKey } from './keys.js';
export type { WebCheckpoint } from './checkpoints.js';
export { computeCheckpointDigest, verifyWebProof, verifyWebSiteProof, type WebProofStep } from './proofs.js';
export { TrailAlteredError } from '../trail-errors.js';
