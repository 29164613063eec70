import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { SshKeysController } from './ssh-keys.controller.js';
import { SshKeysHandler } from './ssh-keys.handler.js';

@Module({
  imports: [CqrsModule],
  controllers: [SshKeysController],
  providers: [SshKeysHandler],
})
export class SshKeysModule {}
