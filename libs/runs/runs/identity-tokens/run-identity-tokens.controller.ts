import { Body, Controller, Param, Post } from '@nestjs/common';
import { z } from 'zod';
import { CurrentActor, type Actor } from '#api/access';
import { parseBody, renderDocument, resourceBody, text, type Document } from '#api/json-api';
import { RunIdentityTokens } from './run-identity-tokens.service.js';

export const identityTokenBody = resourceBody(
  'run-identity-tokens',
  z.object({ fence: z.int().min(1), audience: text(1_000).min(1) }),
);

/** For executors: the tokens with which a run authenticates at clouds. */
@Controller('api/v2')
export class RunIdentityTokensController {
  constructor(private readonly tokens: RunIdentityTokens) {}

  @Post('runs/:id/identity-tokens')
  async create(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { fence, audience } = parseBody(identityTokenBody, body).data.attributes;
    const token = await this.tokens.issue({ id, fence, audience, actor });
    return renderDocument({ id, type: 'run-identity-tokens', attributes: { audience, token } });
  }
}
