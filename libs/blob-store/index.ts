export { BlobExists, BlobStore, bytesOf, type BlobContent, type StoredBlob } from './blob-store.js';
export { EncryptedBlobs } from './encrypted-blobs.js';
export { FolderBlobs } from './folder-blobs.js';
export { LINK_LIFE_MS, SignedLinks } from './signed-links.js';
