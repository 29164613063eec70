export type { SshKeyEvent } from './ssh-key.js';
export { SshKeysModule } from './ssh-keys.module.js';
export { sshKeysDefinition } from './ssh-keys.definition.js';
export { expectSshKeyVersion, selectSshKeyVersion } from './ssh-key-references.queries.js';
