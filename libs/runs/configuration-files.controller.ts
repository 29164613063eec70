import {
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  Param,
  Put,
  Redirect,
  StreamableFile,
  type HttpRedirectResponse,
} from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { Readable } from 'node:stream';
import { notFound } from '#kernel';
import { CurrentActor, Public, type Actor } from '#access';
import { Database } from '#event-store';
import { ConfigurationFiles } from './configuration-version.files.js';
import { ConfigurationLinks } from './configuration-version.links.js';
import { ReceiveConfiguration } from './configuration-versions.handler.js';
import {
  configurationVersionFor,
  configurationStatus,
  type ConfigurationVersionTarget,
} from './configuration-versions.queries.js';

/** Archives of configuration versions: plain bytes, no JSON:API. */
@Controller('api/v2')
export class ConfigurationFilesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly files: ConfigurationFiles,
    private readonly links: ConfigurationLinks,
  ) {}

  /** The signed link stands for the token. */
  @Put('configuration-versions/upload/:token')
  @Public()
  @RouteConfig({ rawBody: true })
  @HttpCode(200)
  async upload(@Param('token') token: string, @Body() content: Readable): Promise<void> {
    await this.bus.execute(new ReceiveConfiguration(this.links.uploadOf(token), content));
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
  async content(@Param('token') token: string): Promise<StreamableFile> {
    const id = this.links.downloadOf(token);
    // It may have been archived or deleted since the link was given out.
    const status = await configurationStatus(this.database, id);
    const found = status === 'uploaded' ? await this.files.get(id) : null;
    if (!found) throw notFound('The archive is not here');
    return new StreamableFile(found.content, { type: 'application/octet-stream', length: found.size });
  }

  private async linkFor(target: ConfigurationVersionTarget, actor: Actor): Promise<HttpRedirectResponse> {
    const { id, status } = await configurationVersionFor(this.database, actor, target);
    if (status !== 'uploaded') throw notFound('The archive is not here');
    return { url: this.links.download(id), statusCode: 302 };
  }
}
