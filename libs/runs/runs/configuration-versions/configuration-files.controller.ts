import {
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  Param,
  Put,
  Redirect,
  Req,
  StreamableFile,
  type HttpRedirectResponse,
} from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { notFound } from '#platform/kernel';
import {
  ConfigureRoute,
  CurrentActor,
  Public,
  describeRequest,
  createSystemContext,
  getClientAddress,
  requireAddressOfLink,
  type Actor,
} from '#api/access';
import type { StoredBlob } from '#storage/blob-store';
import { Database } from '#platform/postgres';
import { ReadRecorder, releaseOnceRecorded } from '#api/reads';
import { ConfigurationFiles } from './configuration-version.files.js';
import { ConfigurationLinks, type DownloadAccessor } from './configuration-version.links.js';
import { ChangeConfigurationVersion } from './configuration-versions.handler.js';
import {
  findConfigurationVersion,
  findLinkedConfiguration,
  type ConfigurationVersionTarget,
  type LinkedConfiguration,
} from './configuration-versions.queries.js';
import type { ConfigurationRead } from '../reads.events.js';

@Controller('api/v2')
export class ConfigurationFilesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly files: ConfigurationFiles,
    private readonly links: ConfigurationLinks,
    private readonly reads: ReadRecorder,
  ) {}

  /** The signed link replaces the token. */
  @Put('configuration-versions/upload/:token')
  @Public()
  @ConfigureRoute({ rawBody: 'file' })
  @HttpCode(200)
  async upload(
    @Param('token') token: string,
    @Body() content: Readable,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    const input = { id: this.links.uploadOf(token), content, address: getClientAddress(request) };
    await this.bus.execute(new ChangeConfigurationVersion('ReceiveConfiguration', input));
  }

  @Get('configuration-versions/:id/download')
  @Redirect(undefined, 302)
  download(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<HttpRedirectResponse> {
    return this.linkFor({ id }, actor);
  }

  @Get('runs/:id/configuration-version/download')
  @Redirect(undefined, 302)
  downloadOfRun(@Param('id') run: string, @CurrentActor() actor: Actor): Promise<HttpRedirectResponse> {
    return this.linkFor({ run }, actor);
  }

  @Get('configuration-versions/download/:token')
  @Public()
  @Header('content-type', 'application/octet-stream')
  async content(@Param('token') token: string, @Req() request: FastifyRequest): Promise<StreamableFile> {
    const { id, recipient } = this.links.downloadOf(token);
    const { version, file } = await this.open(id, recipient, getClientAddress(request));
    const content = await releaseOnceRecorded(file.content, this.recordArchive(version, recipient, request));
    return new StreamableFile(content, { type: 'application/octet-stream', length: file.size });
  }

  /** The archive may have been archived, deleted or replaced since the link was issued. */
  private async open(
    id: string,
    recipient: DownloadAccessor,
    address: string | null,
    missing?: number,
  ): Promise<{ version: LinkedConfiguration; file: StoredBlob }> {
    const version = await findLinkedConfiguration(this.database, id, recipient);
    if (version) requireAddressOfLink(version.allowedRanges, address);
    if (version?.status !== 'uploaded' || version.archive === missing) throw notFound('The archive is not here');
    const file = await this.files.get(id, version.archive);
    return file ? { version, file } : this.open(id, recipient, address, version.archive);
  }

  private async linkFor(target: ConfigurationVersionTarget, actor: Actor): Promise<HttpRedirectResponse> {
    const { id, status, organization, workspace } = await findConfigurationVersion(this.database, actor, target);
    if (status !== 'uploaded') throw notFound('The archive is not here');
    const data = { configurationVersion: id, workspace, shown: 'link', linkOf: actor.id } as const;
    await this.reads.record<ConfigurationRead>(actor, organization, { type: 'ConfigurationVersionDownloaded', data });
    return { url: this.links.download(id, actor), statusCode: 302 };
  }

  /** Records the download with the caller that got the link. */
  private recordArchive(
    { id, organization, workspace }: LinkedConfiguration,
    { id: linkOf, type }: DownloadAccessor,
    request: FastifyRequest,
  ): Promise<void> {
    const context = {
      ...createSystemContext('signed link', request.id),
      request: describeRequest(request),
      ...(type === 'users' ? { linkOf } : {}),
    };
    const data = { configurationVersion: id, workspace, shown: 'archive', linkOf } as const;
    return this.reads.recordAs<ConfigurationRead>(context, organization, {
      type: 'ConfigurationVersionDownloaded',
      data,
    });
  }
}
