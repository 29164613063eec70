import { Body, Controller, Get, Headers, HttpCode, Param, Put, Req, Res, StreamableFile } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { ConfigureRoute, getClientAddress, Public, requireAddressOfLink } from '#api/access';
import { Database } from '#platform/postgres';
import { notFound } from '#platform/kernel';
import { buildDownloadResponse } from '#registry/registry';
import { ModuleFiles } from './module.files.js';
import { formatArchiveName, ModuleLinks } from './module.links.js';
import { findModuleDownload } from './module-files.queries.js';
import { ChangeRegistryModule } from './registry-modules.commands.js';

/** Uploads and downloads of the archives of modules: plain bytes, no JSON:API. A signed link replaces the token. */
@Controller('api/registry/private/v2/modules/object')
@Public()
export class ModuleFilesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly files: ModuleFiles,
    private readonly links: ModuleLinks,
  ) {}

  @Put(':token')
  @ConfigureRoute({ rawBody: 'file' })
  @HttpCode(200)
  async upload(
    @Param('token') token: string,
    @Body() content: Readable,
    @Headers('content-length') length: string | undefined,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    const announced = length === undefined ? null : Number(length);
    const input = { link: this.links.uploadOf(token), address: getClientAddress(request), content, announced };
    await this.bus.execute(new ChangeRegistryModule('ReceiveModuleArchive', input));
  }

  @Get(':token/:filename')
  async download(
    @Param('token') token: string,
    @Param('filename') filename: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile | undefined> {
    const link = this.links.downloadOf(token);
    const target = await findModuleDownload(this.database, link);
    if (target) requireAddressOfLink(target.allowedRanges, getClientAddress(request));
    if (!target || formatArchiveName(target) !== filename) throw notFound('There is no such file, or not any more');
    const { status, content, headers } = buildDownloadResponse(request.headers, target);
    const isHead = request.method === 'HEAD';
    const blob = content && !isHead ? await this.files.get(link.versionId, target.archive, content.range) : null;
    if (content && !isHead && !blob) throw notFound(`${filename} is not in the store of files`);
    void reply.status(status).headers({
      ...headers,
      'content-type': 'application/gzip',
      'content-disposition': `attachment; filename="${filename}"`,
      'x-content-type-options': 'nosniff',
    });
    if (!content) return undefined;
    // Fastify also routes HEAD here, which needs the length and no content.
    return new StreamableFile(blob?.content ?? Readable.from([]), { length: content.length });
  }
}
