export { SshKeysModule } from './ssh-keys.module.js';
export { sshKeysSlice } from './ssh-keys.slice.js';
