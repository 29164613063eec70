import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Refusal } from '#kernel';
import { setRefusalHeaders, getHttpStatus } from '#json-api';

const MAX_PHRASE_LENGTH = 400;

/** What may stand in the first line of an answer. Texts may hold what somebody has sent. */
const formatPhrase = (text: string): string => text.replaceAll(/[^ -~]/g, '?').slice(0, MAX_PHRASE_LENGTH);

/**
 * Refusals as this protocol tells them: `{"errors":["text"]}` (clients.md §5). All else is for who knows faults.
 *
 * Terraform and OpenTofu show the phrase beside the status, and nothing of the body (registry_client.go).
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
