export { forgetSecrets, sealed, Vault } from './vault.js';
export { VaultModule } from './vault.module.js';
export { vaultSlice } from './vault.slice.js';
