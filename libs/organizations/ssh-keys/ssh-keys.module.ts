import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { sshKey, sshKeyEvents, sshKeyReads } from './ssh-key.js';
import { SshKeysController } from './ssh-keys.controller.js';
import { SshKeysHandler } from './ssh-keys.handler.js';
import { sshKeys, sshKeySecrets } from './ssh-keys.view.js';

export const sshKeysDefinition: ModuleDefinition = {
  name: 'ssh-keys',
  kinds: { ...sshKeyEvents, ...sshKeyReads },
  aggregates: [defineAggregate('sshkey', sshKey)],
  projections: [toProjection(sshKeys), toProjection(sshKeySecrets)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

@Module({
  imports: [CqrsModule],
  controllers: [SshKeysController],
  providers: [SshKeysHandler],
})
export class SshKeysModule {}
