import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyReply } from 'fastify';
import { matchesEtag } from '#api/json-api';

/** A file that pages need, such as a stylesheet. It is read once, because it is small and part of the product. */
export class StaticFile {
  private content: { readonly text: string; readonly etag: string } | null = null;

  constructor(
    private readonly url: URL,
    private readonly mediaType: string,
  ) {}

  /** Returns the content of the file, or sets status 304 if the client has it already. */
  send(reply: FastifyReply): string {
    this.content ??= this.read();
    const { text, etag } = this.content;
    void reply.headers({ etag, 'content-type': this.mediaType, 'cache-control': 'no-cache' });
    if (!matchesEtag(reply.request.headers['if-none-match'], etag)) return text;
    void reply.status(304);
    return '';
  }

  private read() {
    const text = readFileSync(this.url, 'utf8');
    return { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` };
  }
}
