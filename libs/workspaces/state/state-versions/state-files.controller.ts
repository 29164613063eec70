import { Body, Controller, Get, Header, HttpCode, Param, Put, Req, StreamableFile } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { notFound } from '#platform/kernel';
import { ConfigureRoute, CurrentActor, getClientAddress, Public, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { ReadRecorder, releaseOnceRecorded } from '#api/reads';
import { createStateReadEvent, type StateRead } from '../reads.events.js';
import { StateVersionReceiver } from '../uploads/state-versions.receiver.js';
import { findStateVersion } from './state-versions.queries.js';
import { StateFiles, type FileKind } from '../files/state.files.js';
import { StateLinks } from '../files/state.links.js';

/** Uploads and downloads of state files: plain bytes, no JSON:API. Documents of state versions contain their URLs. */
@Controller('api/v2')
export class StateFilesController {
  constructor(
    private readonly receiver: StateVersionReceiver,
    private readonly database: Database,
    private readonly files: StateFiles,
    private readonly links: StateLinks,
    private readonly reads: ReadRecorder,
  ) {}

  /** The signed link replaces the token. */
  @Put('state-versions/upload/:token')
  @Public()
  @ConfigureRoute({ rawBody: 'file' })
  @HttpCode(200)
  async upload(
    @Param('token') token: string,
    @Body() content: Readable,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    await this.receiver.receiveFile(this.links.uploadOf(token), content, getClientAddress(request));
  }

  @Get('state-versions/:id/download')
  @Header('content-type', 'application/json')
  download(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<StreamableFile> {
    return this.send(id, 'state', actor);
  }

  @Get('state-versions/:id/json-download')
  @Header('content-type', 'application/json')
  downloadJson(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<StreamableFile> {
    return this.send(id, 'json-state', actor);
  }

  private async send(id: string, kind: FileKind, actor: Actor): Promise<StreamableFile> {
    const row = await findStateVersion(this.database, actor, 'read-state', id);
    const { status } = row;
    // The file of a version can exist without being accepted, or after a deletion that can be undone.
    const isOpen = status === 'finalized' || (kind === 'json-state' && status === 'pending');
    if (!isOpen) throw notFound('The data of this state version is not available');
    const blob = await this.files.get(id, kind);
    if (!blob) throw notFound('The state has not been uploaded in this form');
    const recorded = this.reads.record<StateRead>(actor, row.organization, createStateReadEvent(row, kind));
    const content = await releaseOnceRecorded(blob.content, recorded);
    return new StreamableFile(content, { type: 'application/json', length: blob.size });
  }
}
