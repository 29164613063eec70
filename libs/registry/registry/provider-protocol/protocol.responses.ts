import { createHash } from 'node:crypto';
import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#platform/kernel';
import { getHttpStatus, matchesEtag, setRefusalHeaders } from '#api/json-api';

const MAX_PHRASE_LENGTH = 400;

/** Replaces characters that are not allowed in a status line. The text may contain input of callers. */
const formatPhrase = (text: string): string => text.replaceAll(/[^ -~]/g, '?').slice(0, MAX_PHRASE_LENGTH);

/**
 * Renders refusals in the format of the protocol: `{"errors":["text"]}`. Other errors go to the general
 * filter.
 *
 * Terraform and OpenTofu show only the reason phrase beside the status, and nothing of the body (registry_client.go).
 */
@Catch(Refusal)
export class ProtocolErrorsFilter implements ExceptionFilter<Refusal> {
  catch(refused: Refusal, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    setRefusalHeaders(reply, refused);
    const errors = refused.problems.map(({ detail }) => detail);
    reply.raw.statusMessage = formatPhrase(refused.message);
    void reply
      .status(getHttpStatus(refused))
      .type('application/json')
      .send(Buffer.from(JSON.stringify({ errors })));
  }
}

/** Sends the content with an ETag, or 304 without content if the client already has it (RFC 9110 §13.1.2). */
export const renderWithEtag = (answer: object, request: FastifyRequest, reply: FastifyReply): Buffer | undefined => {
  // A Buffer, because Fastify adds a charset to the media type of strings.
  const body = Buffer.from(JSON.stringify(answer));
  const tag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  void reply.header('etag', tag).header('cache-control', 'private, no-cache');
  if (!matchesEtag(request.headers['if-none-match'], tag)) return body;
  void reply.status(304);
  return undefined;
};
