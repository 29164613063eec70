export type { SshKeyEvent } from './ssh-key.js';
export { sshKeysDefinition, SshKeysModule } from './ssh-keys.module.js';
export { expectSshKeyVersion, selectSshKeyVersion } from './ssh-keys.view.js';
