import { Body, Controller, Get, Headers, HttpCode, Param, Put, Req, Res, StreamableFile } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { ConfigureRoute, getClientAddress, Public, requireAddressOfLink } from '#api/access';
import type { ByteRange } from '#storage/blob-store';
import { Database } from '#platform/postgres';
import { notFound } from '#platform/kernel';
import { buildDownloadResponse } from './release.downloads.js';
import { ChangeRegistryProviderVersion } from '../versions/registry-provider-versions.commands.js';
import { findDownloadTarget } from './release-files.queries.js';
import { deriveFileId, ReleaseFiles } from './release.files.js';
import { ReleaseLinks, type ReleaseFile } from './release.links.js';

const MEDIA_TYPES: Readonly<Record<ReleaseFile['kind'], string>> = {
  binary: 'application/zip',
  shasums: 'text/plain; charset=utf-8',
  'shasums-sig': 'application/octet-stream',
};

/**
 * Uploads and downloads of the files of releases: plain bytes, no JSON:API. A signed link replaces the token.
 */
@Controller('api/registry/private/v2')
@Public()
export class ReleaseFilesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly files: ReleaseFiles,
    private readonly links: ReleaseLinks,
  ) {}

  @Put('uploads/:token')
  @ConfigureRoute({ rawBody: 'file' })
  @HttpCode(200)
  async upload(
    @Param('token') token: string,
    @Body() content: Readable,
    @Headers('content-length') length: string | undefined,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    const announced = length === undefined ? null : Number(length);
    const { file, recipient } = this.links.uploadOf(token);
    const input = { file, sender: { recipient, address: getClientAddress(request) }, content, announced };
    await this.bus.execute(new ChangeRegistryProviderVersion('ReceiveReleaseFile', input));
  }

  @Get('files/:token/:filename')
  async download(
    @Param('token') token: string,
    @Param('filename') filename: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile | undefined> {
    const link = this.links.downloadOf(token);
    const { file } = link;
    const target = await findDownloadTarget(this.database, link);
    if (target) requireAddressOfLink(target.allowedRanges, getClientAddress(request));
    if (target?.filename !== filename) throw notFound('There is no such file, or not any more');
    const { status, content, headers } = buildDownloadResponse(request.headers, target);
    const bytes = content && (await this.bytesFor(request, deriveFileId(file, target.sha256), content.range));
    if (content && !bytes) throw notFound(`${filename} is not in the store of files`);
    void reply.status(status).headers({
      ...headers,
      'content-type': MEDIA_TYPES[file.kind],
      // The name has only letters, digits, dots, dashes and underscores, so it needs no quoting.
      'content-disposition': `attachment; filename="${filename}"`,
      'x-content-type-options': 'nosniff',
    });
    return bytes ? new StreamableFile(bytes, { length: content.length }) : undefined;
  }

  /** Returns an empty stream for HEAD, which Fastify also routes here, so that the file is not read in vain. */
  private async bytesFor({ method }: FastifyRequest, id: string, range?: ByteRange): Promise<Readable | null> {
    if (method === 'HEAD') return (await this.files.size(id)) === null ? null : Readable.from([]);
    return (await this.files.get(id, range))?.content ?? null;
  }
}
