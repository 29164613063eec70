export { canonicalize } from './canonical-json.js';
export { VERIFIER_EXIT_CODES, type CommandContext } from './command-line.js';
export { VERIFIER_COMMANDS, type VerifierCommand, type VerifierOption } from './command-options.js';
export { formatCheckpoint, parseCheckpoint, type LogCheckpoint } from './checkpoints.js';
export { verifyExport, type ExportOptions, type ExportReport } from './export-verification.js';
export { LEAF_FORMAT } from './formats/leaves.js';
export { computeCommitment, computeLeaf, type LeafContent } from './leaves.js';
export { openLog } from './log-readers.js';
export { readCheckpoint, verifyLog, type LogOptions, type LogReport } from './log-verification.js';
export { appendPointer, parsePointer } from './masked-json.js';
export {
  computeRoot,
  computeTileRoot,
  EMPTY_ROOT,
  hashChildren,
  hashLeaf,
  hashLeaves,
  hashPairs,
  proveConsistency,
  proveInclusion,
  verifyConsistency,
  verifyInclusion,
  type ConsistencyProof,
  type HashSource,
  type InclusionProof,
} from './merkle-tree.js';
export { KEY_TYPES } from './formats/keys.js';
export { NoteError } from './formats/notes.js';
export { listUncommittedTexts } from './formats/openings.js';
export { EXTRA_MAX } from './formats/proofs.js';
export {
  formatNote,
  openNote,
  signNote,
  splitNote,
  type NoteSignature,
  type NoteSigner,
  type OpenedNote,
  type VerifiedSignature,
} from './notes.js';
export { openCheckpoint, type OpenedCheckpoint } from './opened-checkpoints.js';
export { formatProof, parseProof, type ProofFile } from './proof-files.js';
export { createProcessContext } from './process-context.js';
export { verifyProof, type ProofOptions, type ProofReport } from './proof-verification.js';
export { formatTilePath, parseTilePath, TILE_WIDTH, type Tile } from './tile-paths.js';
export { TimeStampError } from './time-stamps/time-stamp-errors.js';
export { encodeTimeStampRequest } from './time-stamps/time-stamp-info.js';
export { verifyTimeStampResponse, type VerifiedTimeStamp } from './time-stamps/time-stamp-tokens.js';
export { createTileSource, type LogFileReader } from './tile-source.js';
export { TrailAlteredError, TrailUnreadableError, type TrailProblem } from './trail-errors.js';
export {
  createSignedBytes,
  createVerifierKey,
  formatVerifierKey,
  parseVerifierKey,
  type VerifierKey,
} from './verifier-keys.js';
export { parseWitnessPolicy, type Witness, type WitnessPolicy } from './witness-policy.js';
export { runVerify, type VerifyOptions } from './verify-command.js';
export { runWatch, type WatchOptions } from './watch-command.js';
