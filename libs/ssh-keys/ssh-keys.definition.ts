import { defineAggregate, toProjection, type ModuleDefinition } from '#event-store';
import { sshKeyReads } from './reads.events.js';
import { sshKey } from './ssh-key.js';
import { sshKeyEvents } from './ssh-keys.events.js';
import { sshKeys, sshKeySecrets } from './ssh-keys.projection.js';

export const sshKeysDefinition: ModuleDefinition = {
  name: 'ssh-keys',
  kinds: { ...sshKeyEvents, ...sshKeyReads },
  aggregates: [defineAggregate('sshkey', sshKey)],
  projections: [toProjection(sshKeys), toProjection(sshKeySecrets)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
