export { buildSecretDeletion, selectEncryptedSecret, Vault } from './vault.js';
export { VaultModule } from './vault.module.js';
export { vaultDefinition } from './vault.definition.js';
