export { BlobExists, BlobStore, bytesOf, type BlobContent, type StoredBlob } from './blob-store.js';
export { digestOf, hashed } from './digest.js';
export { EncryptedBlobs } from './encrypted-blobs.js';
export { fileSweeper, type Sweep } from './file-sweeper.follower.js';
export { FolderBlobs } from './folder-blobs.js';
export { MIB, received } from './received.js';
export { LINK_LIFE_MS, SignedLinks } from './signed-links.js';
