import type { Readable } from 'node:stream';
import { Body, Controller, Get, Header, Headers, HttpCode, Param, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { notFound, unprocessable } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { checkContentLength, limitUpload, MIB, readBytes } from '#storage/blob-store';
import { Vault } from '#storage/vault';
import { ChangePolicy } from './policies.handler.js';
import { findPolicyForCommand, findPolicyText } from './policies.view.js';

/** Bytes of the text of one policy. */
const MAX_TEXT_BYTES = MIB;

/** The texts of policies. */
@Controller('api/v2')
export class PolicyTextsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly vault: Vault,
  ) {}

  @Put('policies/:id/upload')
  @ConfigureRoute({ rawBody: 'file' })
  @HttpCode(200)
  async upload(
    @Param('id') id: string,
    @Body() content: Readable,
    @Headers('content-length') length: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await findPolicyForCommand(this.database, actor, id);
    checkContentLength(length === undefined ? null : Number(length), MAX_TEXT_BYTES);
    const bytes = await readBytes(limitUpload(content, MAX_TEXT_BYTES));
    await this.bus.execute(new ChangePolicy('UploadPolicy', { id, text: requireText(bytes), actor }));
  }

  @Get('policies/:id/download')
  @Header('content-type', 'application/octet-stream')
  @Header('x-content-type-options', 'nosniff')
  @Header('content-disposition', 'attachment')
  async download(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Buffer> {
    const { encryptedText } = await findPolicyText(this.database, actor, id);
    if (encryptedText === null) throw notFound('The policy has no text: nothing was uploaded');
    return Buffer.from(this.vault.decrypt(id, encryptedText));
  }
}

const requireText = (bytes: Buffer): Buffer => {
  const decoded = bytes.toString('utf8');
  // Executors get texts in JSON, where other control characters need six bytes.
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x08\x0b\x0c\x0e-\x1f]/.test(decoded) || !Buffer.from(decoded).equals(bytes))
    throw unprocessable('The body must be a text in UTF-8 without control characters, such as Rego');
  return bytes;
};
