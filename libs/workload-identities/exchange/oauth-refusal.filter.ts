import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Refusal } from '#kernel';
import { getHttpStatus, hasLongUnreadBody, setRefusalHeaders } from '#json-api';
import { renderOAuthRefusal } from './oauth-refusal.js';

/** Sends refusals of a token endpoint as RFC 6749 §5.2 describes. All other errors go to the filters of every route. */
@Catch(Refusal)
export class OAuthRefusalFilter implements ExceptionFilter<Refusal> {
  catch(refused: Refusal, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    setRefusalHeaders(reply, refused);
    if (hasLongUnreadBody(reply.request.raw)) void reply.header('connection', 'close');
    void reply
      .status(getHttpStatus(refused))
      .header('cache-control', 'no-store')
      .type('application/json')
      .send(renderOAuthRefusal(refused));
  }
}
