export type { SshKeyEvent } from './ssh-key.js';
export { SshKeysModule } from './ssh-keys.module.js';
export { sshKeysSlice } from './ssh-keys.slice.js';
export { heldSshKey, sshKeyVersion } from './ssh-key-references.queries.js';
