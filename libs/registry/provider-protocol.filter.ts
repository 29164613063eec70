import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Refused } from '#kernel';
import { setRefusalHeaders, statusOf } from '#json-api';

const PHRASE_MOST = 400;

/** What may stand in the first line of an answer. Texts may hold what somebody has sent. */
const phraseOf = (text: string): string => text.replaceAll(/[^ -~]/g, '?').slice(0, PHRASE_MOST);

/**
 * Refusals as this protocol tells them: `{"errors":["text"]}` (clients.md §5). All else is for who knows faults.
 *
 * Terraform and OpenTofu show the phrase beside the status, and nothing of the body (registry_client.go).
 */
@Catch(Refused)
export class ProtocolErrorsFilter implements ExceptionFilter<Refused> {
  catch(refused: Refused, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    setRefusalHeaders(reply, refused);
    const errors = refused.problems.map(({ detail }) => detail);
    reply.raw.statusMessage = phraseOf(refused.message);
    void reply
      .status(statusOf(refused))
      .type('application/json')
      .send(Buffer.from(JSON.stringify({ errors })));
  }
}
