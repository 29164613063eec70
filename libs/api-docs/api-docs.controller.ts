import { createGunzip } from 'node:zlib';
import { pipeline, type Readable } from 'node:stream';
import { Controller, Get, Param, Req, Res, StreamableFile } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '#access';
import { matchesEtag } from '#json-api';
import { notFound } from '#kernel';
import { PublishedFiles } from './published-files.js';

/** Serves the descriptions of the API and of the events, and a page to read them. */
@Controller()
@Public()
export class ApiDocsController {
  private readonly files = new PublishedFiles();

  @Get('api/openapi.json')
  showOpenApi(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.send('openapi.json', request, reply);
  }

  @Get('api/asyncapi.json')
  showAsyncApi(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.send('asyncapi.json', request, reply);
  }

  @Get('api/docs')
  showPage(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.send('index.html', request, reply);
  }

  @Get('api/docs/scalar.js')
  showScript(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.send('scalar.js', request, reply);
  }

  @Get('schemas/:name')
  showSchema(
    @Param('name') name: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.send(`schemas/${name}`, request, reply);
  }

  /** Sends the file, or 304 if the client has it already. */
  private async send(name: string, request: FastifyRequest, reply: FastifyReply): Promise<StreamableFile | undefined> {
    const file = await this.files.find(name);
    if (!file) throw notFound();
    const { etag, mediaType, policy, size } = file;
    void reply.headers({ etag, 'content-type': mediaType, 'cache-control': 'no-cache', vary: 'accept-encoding' });
    if (policy !== undefined) void reply.header('content-security-policy', policy);
    if (matchesEtag(request.headers['if-none-match'], etag)) {
      void reply.status(304);
      return undefined;
    }
    const compressed = this.files.open(name) as Readable;
    if (!acceptsGzip(request.headers['accept-encoding'])) {
      return new StreamableFile(decompress(compressed), { type: mediaType });
    }
    void reply.header('content-encoding', 'gzip');
    return new StreamableFile(compressed, { type: mediaType, length: size });
  }
}

const acceptsGzip = (encodings: string | string[] | undefined): boolean =>
  [encodings ?? []]
    .flat()
    .join(',')
    .split(',')
    .some((encoding) => /^\s*(?:gzip|\*)\s*(?:;(?!\s*q=0(?:\.0*)?\s*$).*)?$/.test(encoding));

/** A failure reaches the reader of the returned stream. */
const decompress = (compressed: Readable): Readable => {
  const content = createGunzip();
  pipeline(compressed, content, () => undefined);
  return content;
};
