export { buildSecretDeletion, selectEncryptedBytes, selectEncryptedSecret, Vault } from './vault.js';
export { VaultModule, vaultDefinition } from './vault.module.js';
