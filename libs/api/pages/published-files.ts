import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { StreamableFile } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { matchesEtag, parseAcceptEncoding } from '#api/json-api';
import { notFound } from '#platform/kernel';

/** Names of compressions in headers, and the ends of the names of compressed files. The best one comes first. */
const EXTENSIONS = { br: 'br', gzip: 'gz' } as const;
type Encoding = keyof typeof EXTENSIONS;
const ENCODINGS = Object.keys(EXTENSIONS) as Encoding[];

const size = z.int();

const publishedFile = z.object({
  mediaType: z.string(),
  /** Sizes of the compressed contents, in bytes. Every file is compressed with gzip. */
  sizes: z.object({ gzip: size, br: size.optional() }),
  etag: z.string(),
  /** The Content-Security-Policy, if the file needs more than other responses. */
  policy: z.string().optional(),
});
type PublishedFile = z.infer<typeof publishedFile>;

const fileList = z.record(z.string(), publishedFile);

export type PublishedFilesOptions = {
  /** The folder that `publish-files.build.ts` fills in a build. */
  readonly folder: string;
  /** Whether the name of a file changes with its content. Browsers then never request a file twice. */
  readonly areImmutable?: boolean;
};

const YEAR_SECONDS = 365 * 24 * 3_600;

/** Compressed files that a build contains, such as scripts and documents. */
export class PublishedFiles {
  private files: Promise<ReadonlyMap<string, PublishedFile>> | null = null;

  constructor(private readonly options: PublishedFilesOptions) {}

  /**
   * Sends the file with this name, such as `schemas/WorkspaceCreated.json`, or 304 if the client has it already. Throws
   * `not-found` if the build has no such file.
   */
  async send(name: string, request: FastifyRequest, reply: FastifyReply): Promise<StreamableFile | undefined> {
    this.files ??= this.readList();
    const file = (await this.files).get(name);
    if (!file) throw notFound();
    const { etag, mediaType, policy, sizes } = file;
    void reply.headers({ etag, 'content-type': mediaType, vary: 'accept-encoding', ...this.buildCacheHeader() });
    if (policy !== undefined) void reply.header('content-security-policy', policy);
    if (matchesEtag(request.headers['if-none-match'], etag)) {
      void reply.status(304);
      return undefined;
    }
    const accepted = parseAcceptEncoding(request.headers['accept-encoding']);
    const encoding = ENCODINGS.find((each) => sizes[each] !== undefined && accepted(each));
    if (encoding === undefined) return new StreamableFile(this.openDecompressed(name), { type: mediaType });
    void reply.header('content-encoding', encoding);
    return new StreamableFile(this.open(name, encoding), { type: mediaType, length: sizes[encoding] ?? 0 });
  }

  private buildCacheHeader() {
    const { areImmutable = false } = this.options;
    return { 'cache-control': areImmutable ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache' };
  }

  private open(name: string, encoding: Encoding): Readable {
    return createReadStream(join(this.options.folder, `${name}.${EXTENSIONS[encoding]}`));
  }

  /** A failure reaches the reader of the returned stream. */
  private openDecompressed(name: string): Readable {
    const content = createGunzip();
    pipeline(this.open(name, 'gzip'), content, () => undefined);
    return content;
  }

  private async readList(): Promise<ReadonlyMap<string, PublishedFile>> {
    const text = await readFile(join(this.options.folder, 'files.json'), 'utf8');
    return new Map(Object.entries(fileList.parse(JSON.parse(text))));
  }
}
