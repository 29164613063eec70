import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { sshKeyReads } from './reads.events.js';
import { sshKey } from './ssh-key.js';
import { sshKeyEvents } from './ssh-keys.events.js';
import { sshKeys, sshKeySecrets } from './ssh-keys.projection.js';

export const sshKeysSlice: Slice = {
  name: 'ssh-keys',
  kinds: { ...kindsOf(sshKeyEvents), ...kindsOf(sshKeyReads) },
  aggregates: [aggregate('sshkey', sshKey)],
  projections: [projectionOf(sshKeys), projectionOf(sshKeySecrets)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
