import { Command } from '@nestjs/cqrs';
import type { Actor } from '#access';
import type { IssuedToken } from './authentication-tokens.handler.js';

/** A token for a run. The neighbour who keeps the runs makes it: only there is it known whose they are to execute. */
export class IssueRunToken extends Command<IssuedToken> {
  constructor(
    readonly run: string,
    readonly actor: Actor,
  ) {
    super();
  }
}
